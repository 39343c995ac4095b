"""The records of the app Messages, and the function that opens a conversation.

A conversation belongs to a number (or to the name of a service); the address book maps the number
to a contact's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from phonesim.app import Ui
from phonesim.contents.people import digits
from phonesim.contents.timestamps import LONG_AGO
from phonesim.facts import Facts

BOTTOM = 1_000_000  # scroll offset that is clipped to the end


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with one number."""

    id: int = 0
    number: str = ""
    muted: bool = False
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message, sent or received."""

    id: int = 0
    conversation: int = 0
    text: str = ""
    ours: bool = False
    time: datetime = LONG_AGO


@dataclass(frozen=True, slots=True)
class UnreadConversation:
    """Marks a conversation as unread; removed when it is read."""

    INCIDENTAL: ClassVar[bool] = True

    id: int = 0
    conversation: int = 0


def conversation_with(facts: Facts, number: str) -> Conversation | None:
    same = digits(number)
    if not same:
        return facts.find(Conversation, lambda c: c.number == number)
    return facts.find(Conversation, lambda c: digits(c.number) == same)


def messages_of(facts: Facts, conversation: Conversation) -> tuple[Message, ...]:
    return facts.where(Message, lambda m: m.conversation == conversation.id)


def latest_messages(facts: Facts) -> dict[int, Message]:
    """Return the newest message of each conversation."""
    latest: dict[int, Message] = {}
    for message in facts.all(Message):
        known = latest.get(message.conversation)
        if known is None or (message.time, message.id) >= (known.time, known.id):
            latest[message.conversation] = message
    return latest


def is_unread(facts: Facts, conversation: Conversation) -> bool:
    return any(mark.conversation == conversation.id for mark in facts.all(UnreadConversation))


def open_chat(ui: Ui, number: str) -> None:
    """Open the conversation with a number, from any app."""
    known = conversation_with(ui.facts, number)
    if known:
        mark_read(ui.facts, known)
    ui.launch("Messages", "chat", number, scroll=BOTTOM)


def mark_read(facts: Facts, conversation: Conversation) -> None:
    facts.remove_where(UnreadConversation, lambda mark: mark.conversation == conversation.id)
