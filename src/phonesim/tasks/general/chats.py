"""Conversations in tasks: how to put messages on a phone, and whether one was sent."""

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
    """Put a message on the phone that is newer than all others."""
    chat = conversation_with(facts, number) or facts.add(Conversation(number=number))
    newest = max(message.time for message in facts.all(Message))
    facts.add(Message(0, chat.id, text, ours, newest + timedelta(minutes=3)))
    return chat


def chat_with(view: View, number: str) -> Conversation:
    chat = conversation_with(view.facts, number)
    assert chat is not None, f"no conversation with {number}"
    return chat


def talk_to(facts: Facts, name: str, rng: random.Random) -> Conversation:
    """A conversation with that contact, made where there is none."""
    number = known(facts, name, rng).phone
    chat = conversation_with(facts, number)
    if chat is None:
        chat = received(facts, number, rng.choice(rng.choice(SMALL_TALK))[1])
    return chat


def chat_of(view: View, name: str) -> Conversation:
    return chat_with(view, contact_named(view, name).phone)


def wrong_message(start: View, end: View, number: str) -> str | Message:
    """The one message that was sent to this number, or why it is not so."""
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
    """Why this text was not sent to this number, and nothing else; None where it was."""
    new = wrong_message(start, end, number)
    if isinstance(new, str):
        return new
    return None if same_text(new.text, text) else f"the message says {new.text!r}"
