"""Tasks in the app Messages that are about whole conversations."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.conversations import (
    Conversation,
    Message,
    UnreadConversation,
    is_unread,
    mark_read,
)
from phonesim.facts import Facts
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.chats import (
    chat_of,
    talk_to,
)
from phonesim.tasks.general.differences import only_changed, only_removed
from phonesim.tasks.general.people import NAMES
from phonesim.tasks.moves import Hold, Move, Open, Press
from phonesim.tasks.template import Template, View, added, changed, removed


@dataclass(frozen=True)
class DeleteConversation(Template):
    name = "messages.delete"
    apps = ("Messages",)
    difficulty = "medium"
    phrasings = (
        "Delete the conversation with {person}",
        "Remove my whole chat with {person} from Messages",
        "I want all messages with {person} gone",
    )
    touches = (Message, Conversation)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        talk_to(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        chat = chat_of(start, self.person)
        if added(start, end, Message) or changed(start, end, Message):
            return "a message was added or changed"
        if any(message.conversation != chat.id for message in removed(start, end, Message)):
            return "messages with somebody else are gone"
        return only_removed(start, end, Conversation, chat.id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Hold(self.person)
        yield Press("Delete conversation")
        yield Press("Delete")


@dataclass(frozen=True)
class MuteConversation(Template):
    name = "messages.mute"
    apps = ("Messages",)
    difficulty = "easy"
    phrasings = (
        "Mute the conversation with {person}",
        "Messages from {person} should not make a sound any more. Mute them",
        "Silence my chat with {person}",
    )
    touches = (Conversation,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.edit(talk_to(facts, self.person, rng), muted=False)

    def missing(self, start: View, end: View) -> str | None:
        chat = chat_of(start, self.person)
        return only_changed(start, end, Conversation, chat.id, muted=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Hold(self.person)
        yield Press("Mute")


@dataclass(frozen=True)
class UnmuteConversation(Template):
    name = "messages.unmute"
    apps = ("Messages",)
    difficulty = "easy"
    phrasings = (
        "Unmute the conversation with {person}",
        "I want to hear when {person} writes again. Unmute the chat",
        "Turn the sound for messages from {person} back on in Messages",
    )
    touches = (Conversation,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.edit(talk_to(facts, self.person, rng), muted=True)

    def missing(self, start: View, end: View) -> str | None:
        chat = chat_of(start, self.person)
        return only_changed(start, end, Conversation, chat.id, muted=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Hold(self.person)
        yield Press("Unmute")


@dataclass(frozen=True)
class ArchiveConversation(Template):
    name = "messages.archive"
    apps = ("Messages",)
    difficulty = "easy"
    phrasings = (
        "Archive the conversation with {person}",
        "Move my chat with {person} to the archive",
        "Keep the messages with {person}, but archive them",
    )
    touches = (Conversation,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        talk_to(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        chat = chat_of(start, self.person)
        return only_changed(start, end, Conversation, chat.id, archived=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Hold(self.person)
        yield Press("Archive")


@dataclass(frozen=True)
class UnarchiveConversation(Template):
    name = "messages.unarchive"
    apps = ("Messages",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        "Bring the conversation with {person} back from the archive",
        "My chat with {person} is archived. Unarchive it",
        "Move the messages with {person} out of the archive",
    )
    touches = (Conversation,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.edit(talk_to(facts, self.person, rng), archived=True)

    def missing(self, start: View, end: View) -> str | None:
        chat = chat_of(start, self.person)
        return only_changed(start, end, Conversation, chat.id, archived=False)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press("Archived")
        yield Hold(self.person)
        yield Press("Unarchive")


@dataclass(frozen=True)
class MarkUnread(Template):
    name = "messages.mark_unread"
    apps = ("Messages",)
    difficulty = "easy"
    phrasings = (
        "Mark the conversation with {person} as unread",
        "Make my chat with {person} show up as unread again",
        "I want to read {person}'s messages later. Mark them as unread",
    )
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        mark_read(facts, talk_to(facts, self.person, rng))

    def missing(self, start: View, end: View) -> str | None:
        chat = chat_of(start, self.person)
        before = {mark.conversation for mark in start.all(UnreadConversation)}
        after = {mark.conversation for mark in end.all(UnreadConversation)}
        if not is_unread(end.facts, chat):
            return f"the conversation with {self.person} is not marked as unread"
        return None if after - before == {chat.id} else "another conversation is unread now"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Hold(self.person)
        yield Press("Mark as unread")


TEMPLATES: tuple[type[Template], ...] = (
    DeleteConversation,
    MuteConversation,
    UnmuteConversation,
    ArchiveConversation,
    UnarchiveConversation,
    MarkUnread,
)
