"""Helpers for tasks about conversations: adding messages, and judging whether one was sent."""

from __future__ import annotations

import random
from datetime import timedelta

from phonesim.contents.conversations import (
    Conversation,
    Message,
    conversation_with,
)
from phonesim.contents.small_talk import SMALL_TALK
from phonesim.facts import Facts
from phonesim.tasks.general.differences import only_added
from phonesim.tasks.general.people import contact_named, known
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.template import View, added, changed, removed


def received(facts: Facts, number: str, text: str, *, ours: bool = False) -> Conversation:
    """Add a message, newer than all others, and return its conversation."""
    chat = conversation_with(facts, number) or facts.add(Conversation(number=number))
    newest = max(message.time for message in facts.all(Message))
    facts.add(Message(0, chat.id, text, ours, newest + timedelta(minutes=3)))
    return chat


def chat_with(view: View, number: str) -> Conversation:
    chat = conversation_with(view.facts, number)
    assert chat is not None, f"no conversation with {number}"
    return chat


def talk_to(facts: Facts, name: str, rng: random.Random) -> Conversation:
    """Return the conversation with that contact; add one if there is none."""
    number = known(facts, name, rng).phone
    chat = conversation_with(facts, number)
    if chat is None:
        chat = received(facts, number, rng.choice(rng.choice(SMALL_TALK))[1])
    return chat


def chat_of(view: View, name: str) -> Conversation:
    return chat_with(view, contact_named(view, name).phone)


def wrong_message(start: View, end: View, number: str) -> str | Message:
    """Return the one new message if it went to this number; else what is wrong."""
    wrong = only_added(start, end, Message)
    if wrong:
        return wrong
    (new,) = added(start, end, Message)
    chat = conversation_with(end.facts, number)
    if chat is None or new.conversation != chat.id:
        return "the message went to somebody else"
    chats = [other for other in added(start, end, Conversation) if other.id != chat.id]
    if chats or removed(start, end, Conversation) or changed(start, end, Conversation):
        return "another conversation was changed"
    return new


def not_sent(start: View, end: View, number: str, text: str) -> str | None:
    """Return None if this text and nothing else was sent to this number; else what is wrong."""
    new = wrong_message(start, end, number)
    if isinstance(new, str):
        return new
    return None if same_text(new.text, text) else f"the message says {new.text!r}"
