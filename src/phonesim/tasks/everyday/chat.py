"""Tasks in the app Chat."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps.everyday.chat_person import PRIVACY
from phonesim.contents.everyday.money import Account, Transfer, money
from phonesim.contents.everyday.threads import (
    ME,
    BlockedChatter,
    ChatMessage,
    ChatSettings,
    ChatThread,
    ChatUpdate,
    thread_with,
)
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.everyday.errand import Errand
from phonesim.tasks.everyday.everyday_sources import GROUP_NAMES
from phonesim.tasks.everyday.put import AMOUNTS, chatted, not_paid, put_chat, wrong_chat
from phonesim.tasks.general.differences import only_added, only_changed, only_removed
from phonesim.tasks.general.people import NAMES, TEXTS, known
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Fill, Hold, Move, Open, Press
from phonesim.tasks.template import Template, View

PRIVATE = Domain(
    "chat privacy",
    (*PRIVACY.items(), ("sounds", "Message sounds"), ("previews", "Show previews")),
    say=lambda pair: pair[1],
)
NEW_GROUPS = Domain(
    "new chat groups",
    ("Garden crew", "Board games", "Night walk", "Pancake club", "Rowers", "Puzzle people"),
)
RECORDED = Domain("seconds", (5, 10, 15, 20), say=lambda seconds: f"{seconds} seconds")


@dataclass(frozen=True)
class SendVoiceNote(Errand):
    name = "chat.voice_note"
    apps = ("Chat",)
    difficulty = "medium"
    phrasings = (
        "Record a voice note of {seconds} for {person} in Chat and send it",
        "Send {person} a voice note that lasts {seconds} in Chat",
        "In Chat, leave {person} a voice note of {seconds}",
    )
    touches = (ChatMessage, ChatThread)
    person: str = parameter(NAMES)
    seconds: int = parameter(RECORDED)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.person, "I would love to hear your voice")

    def missing(self, start: View, end: View) -> str | None:
        new = wrong_chat(start, end, self.person)
        if isinstance(new, str):
            return new
        return None if new.seconds == self.seconds else f"the note lasts {new.seconds} seconds"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.person, role="row")
        yield Press("Voice note", role="button")
        for _ in range(self.seconds // 5):
            yield Press("Record", role="button")
        yield Press("Send note")


@dataclass(frozen=True)
class PayInChat(Errand):
    name = "chat.pay"
    apps = ("Chat", "Wallet")
    difficulty = "hard"
    high_stakes = True
    phrasings = (
        "Send {person} {amount} in Chat",
        "Pay {person} {amount} right in our chat",
        "In Chat, attach {amount} for {person}, from my wallet",
    )
    touches = (ChatMessage, ChatThread, Account, Transfer)
    person: str = parameter(NAMES)
    amount: int = parameter(AMOUNTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.person, "You can pay me here")

    def missing(self, start: View, end: View) -> str | None:
        new = wrong_chat(start, end, self.person)
        if isinstance(new, str):
            return new
        if new.cents != self.amount:
            return f"{new.cents} cents were sent"
        return not_paid(start, end, self.person, self.amount)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.person, role="row")
        yield Press("Attach")
        yield Press("Send money", role="row")
        yield Fill("Amount", money(self.amount).lstrip("$"))
        yield Press("Next")
        yield Press("Pay")


@dataclass(frozen=True)
class MakeGroup(Errand):
    name = "chat.new_group"
    apps = ("Chat",)
    difficulty = "long"
    phrasings = (
        'Make a group "{group}" in Chat with {person} and {other}',
        'Start a Chat group called "{group}"; {person} and {other} should be in it',
        'In Chat, bring {person} and {other} together in a new group "{group}"',
    )
    touches = (ChatThread,)
    group: str = parameter(NEW_GROUPS)
    person: str = parameter(NAMES)
    other: str = parameter(NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)
        known(facts, self.other, rng)

    def missing(self, start: View, end: View) -> str | None:
        wrong = only_added(start, end, ChatThread, title=self.group, group=True)
        if wrong:
            return wrong
        made = thread_with(end.facts, self.group)
        inside = set(made.members) if made else set()
        return None if inside == {self.person, self.other} else f"in the group are {inside}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press("Groups", role="tab")
        yield Press("New group")
        yield Fill("Group name", self.group)
        for name in (self.person, self.other):
            yield Fill("Search people", name)
            yield Press(name, role="row")
        yield Press("Create group")


def _not_gone(start: View, end: View, title: str) -> str | None:
    """Return None if exactly this thread and its messages were removed; else what is wrong."""
    thread = thread_with(start.facts, title)
    assert thread is not None
    gone = [m.id for m in start.all(ChatMessage) if m.thread == thread.id]
    wrong = only_removed(start, end, ChatThread, thread.id)
    return wrong or only_removed(start, end, ChatMessage, *gone)


@dataclass(frozen=True)
class LeaveGroup(Errand):
    name = "chat.leave_group"
    apps = ("Chat",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        'Leave the Chat group "{group}"',
        'I no longer want to be in the group "{group}" in Chat. Leave it, and no other',
        'Take me out of "{group}" in Chat',
    )
    touches = (ChatThread, ChatMessage)
    group: str = parameter(GROUP_NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        if thread_with(facts, self.group) is None:
            people = tuple(t.title for t in facts.all(ChatThread) if not t.group)[:3]
            thread = facts.add(ChatThread(title=self.group, members=people, group=True))
            newest = max(message.time for message in facts.all(ChatMessage))
            facts.add(ChatMessage(0, thread.id, people[0], "Hello everybody", newest))

    def missing(self, start: View, end: View) -> str | None:
        return _not_gone(start, end, self.group)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.group, role="row")
        yield Press("Chat info")
        yield Press("Leave group")
        yield Press("Leave")


@dataclass(frozen=True)
class DeleteChat(Errand):
    name = "chat.delete"
    apps = ("Chat",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        "Delete my chat with {person}",
        "Remove the conversation with {person} from Chat, and only that one",
        "My chat with {person} should be gone for good",
    )
    touches = (ChatThread, ChatMessage)
    person: str = parameter(NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.person, "Never mind")

    def missing(self, start: View, end: View) -> str | None:
        return _not_gone(start, end, self.person)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Hold(self.person, role="row")
        yield Press("Delete chat")
        yield Press("Delete")


@dataclass(frozen=True)
class MuteChat(Errand):
    name = "chat.mute"
    apps = ("Chat",)
    difficulty = "medium"
    phrasings = (
        "Mute the chat with {person}",
        "I want no more sounds from {person} in Chat. Mute them",
        "Silence my conversation with {person} in Chat",
    )
    touches = (ChatThread,)
    person: str = parameter(NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.person, "And another thing")
        thread = thread_with(facts, self.person)
        if thread:
            facts.edit(thread, muted=False)

    def missing(self, start: View, end: View) -> str | None:
        thread = thread_with(start.facts, self.person)
        return only_changed(start, end, ChatThread, thread.id if thread else 0, muted=True)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Hold(self.person, role="row")
        yield Press("Mute")


@dataclass(frozen=True)
class BlockInChat(Errand):
    name = "chat.block"
    apps = ("Chat",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        "Block {person} in Chat",
        "{person} should no longer be able to write to me in Chat",
        "See to it that {person} is blocked in Chat, and nobody else",
    )
    touches = (BlockedChatter,)
    person: str = parameter(NAMES)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.person, "Buy my stamps")

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, BlockedChatter, person=self.person)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.person, role="row")
        yield Press("Chat info")
        yield Press("View profile")
        yield Press("Block", role="button")
        yield Press("Block", role="button")


@dataclass(frozen=True)
class ShareUpdate(Errand):
    name = "chat.update"
    apps = ("Chat",)
    difficulty = "medium"
    high_stakes = True
    phrasings = (
        'Share the update "{text}" with everybody in Chat',
        'Post "{text}" under Updates in Chat',
        'Let all my contacts in Chat know: "{text}"',
    )
    touches = (ChatUpdate,)
    text: str = parameter(TEXTS)

    def missing(self, start: View, end: View) -> str | None:
        return only_added(start, end, ChatUpdate, person=ME, text=self.text)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press("Updates", role="tab")
        yield Press("New update")
        yield Fill("What is new?", self.text)
        yield Press("Share")


@dataclass(frozen=True)
class ForwardMessage(Errand):
    name = "chat.forward"
    apps = ("Chat",)
    difficulty = "hard"
    phrasings = (
        'Forward "{text}" from {person} to {other} in Chat',
        '{person} wrote "{text}" in Chat. Forward that to {other}',
        'In Chat, pass {person}\'s message "{text}" on to {other}',
    )
    touches = (ChatMessage,)
    person: str = parameter(NAMES)
    other: str = parameter(NAMES)
    text: str = parameter(TEXTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        chatted(facts, rng, self.other, "What is the news?")
        chatted(facts, rng, self.person, self.text)

    def missing(self, start: View, end: View) -> str | None:
        new = wrong_chat(start, end, self.other)
        if isinstance(new, str):
            return new
        return None if same_text(new.text, self.text) else f"the message says {new.text!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press(self.person, role="row")
        yield Hold(self.text)
        yield Press("Forward")
        yield Fill("Search chats", self.other)
        yield Press(self.other, role="row")


@dataclass(frozen=True)
class SwitchPrivacy(Errand):
    name = "chat.privacy_off"
    apps = ("Chat",)
    difficulty = "medium"
    phrasings = (
        'Switch off "{setting}" in Chat',
        'In the settings of Chat, turn off "{setting}"',
        'I do not want "{setting}" in Chat any more',
    )
    touches = (ChatSettings,)
    setting: tuple[str, str] = parameter(PRIVATE)

    def missing(self, start: View, end: View) -> str | None:
        settings = start.one(ChatSettings).id
        return only_changed(start, end, ChatSettings, settings, **{self.setting[0]: False})

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        yield Press("More options")
        yield Press("Chat settings")
        if self.setting[0] in PRIVACY:
            yield Press("Privacy")
        yield Press(self.setting[1], role="row")


@dataclass(frozen=True)
class WriteInChat(Errand):
    name = "chat.write"
    apps = ("Chat",)
    difficulty = "medium"
    phrasings = (
        'Write "{text}" to {person} in Chat',
        'Send {person} the message "{text}" in Chat',
        'Open Chat and tell {person}: "{text}"',
    )
    touches = (ChatMessage, ChatThread)
    person: str = parameter(NAMES)
    text: str = parameter(TEXTS)

    def arrange(self, facts: Facts, rng: random.Random) -> None:
        put_chat(facts, rng, self.person)

    def missing(self, start: View, end: View) -> str | None:
        new = wrong_chat(start, end, self.person)
        if isinstance(new, str):
            return new
        return None if same_text(new.text, self.text) else f"the message says {new.text!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Chat")
        if thread_with(start.facts, self.person):
            yield Press(self.person, role="row")
        else:
            yield Press("New chat", role="button")
            yield Fill("Search people", self.person)
            yield Press(self.person, role="row")
        yield Fill("Message", self.text)
        yield Press("Send", role="button")


TEMPLATES: tuple[type[Template], ...] = (
    WriteInChat, SendVoiceNote, PayInChat, MakeGroup, LeaveGroup, DeleteChat, MuteChat, BlockInChat,
    ShareUpdate, ForwardMessage, SwitchPrivacy,
)  # fmt: skip
