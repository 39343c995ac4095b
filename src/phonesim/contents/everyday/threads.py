"""The records of the app Chat: threads with people and groups, messages, updates, settings.

A message is a text, a voice note (`seconds` above zero) or a payment (`cents` above zero).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from phonesim.contents.people import Contact
from phonesim.contents.small_talk import SMALL_TALK
from phonesim.contents.timestamps import LONG_AGO
from phonesim.facts import Facts

ME = "You"
GROUPS = ("Book circle", "Sunday hikers", "Flat 12", "Choir friends", "Football", "Old classmates")
UPDATES = (
    "New job from Monday on!", "Anyone up for a swim?", "Looking for a used piano",
    "Back from the mountains", "The bakery on the corner has reopened", "Learning to juggle",
    "Free kittens, very polite", "Watching the rain", "Who has a drill?", "Finally finished it",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChatThread:
    """A conversation with one person, or with a group."""

    id: int = 0
    title: str = ""
    members: tuple[str, ...] = ()  # without the user
    group: bool = False
    muted: bool = False
    pinned: bool = False
    archived: bool = False
    wallpaper: str = "Plain"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message in a thread."""

    id: int = 0
    thread: int = 0
    sender: str = ""
    text: str = ""
    time: datetime = LONG_AGO
    seconds: int = 0
    cents: int = 0
    starred: bool = False


@dataclass(frozen=True, slots=True)
class UnreadThread:
    """Marks a thread as unread."""

    INCIDENTAL: ClassVar[bool] = True

    id: int = 0
    thread: int = 0


@dataclass(frozen=True, slots=True)
class ChatUpdate:
    """A public update of a person."""

    id: int = 0
    person: str = ""
    text: str = ""
    time: datetime = LONG_AGO
    liked: bool = False


@dataclass(frozen=True, slots=True)
class BlockedChatter:
    """A person whose messages are blocked."""

    id: int = 0
    person: str = ""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The user's name, status line and privacy settings. There is one record."""

    id: int = 0
    name: str = "Me"
    about: str = "Hello there"
    read_receipts: bool = True
    last_seen: bool = True
    group_invites: bool = True
    sounds: bool = True
    previews: bool = True
    save_media: bool = False
    enter_sends: bool = True


def thread_with(facts: Facts, title: str) -> ChatThread | None:
    return facts.find(ChatThread, lambda thread: thread.title == title)


def messages_in(facts: Facts, thread_id: int) -> list[ChatMessage]:
    found = facts.where(ChatMessage, lambda message: message.thread == thread_id)
    return sorted(found, key=lambda message: (message.time, message.id))


def open_thread(facts: Facts, person: str) -> ChatThread:
    """Return the thread with a person; create it if there is none."""
    found = thread_with(facts, person)
    return found or facts.add(ChatThread(title=person, members=(person,)))


def furnish_threads(facts: Facts, rng: random.Random, now: datetime) -> None:
    """Add conversations with people and groups, and public updates."""
    facts.add(ChatSettings())
    people = rng.sample([contact.name for contact in facts.all(Contact)], 11)
    time = now
    chats: list[tuple[str, tuple[str, ...]]] = [(person, (person,)) for person in people[:5]]
    chats += [
        (group, tuple(rng.sample(people, rng.randrange(3, 6)))) for group in rng.sample(GROUPS, 2)
    ]
    rng.shuffle(chats)
    for title, members in chats:
        time -= timedelta(minutes=rng.randrange(20, 700))
        thread = facts.add(ChatThread(0, title, members, group=len(members) > 1))
        _furnish_talk(facts, rng, thread, time)
    for person, text in zip(people[5:10], rng.sample(UPDATES, 5), strict=True):
        time -= timedelta(minutes=rng.randrange(30, 400))
        facts.add(ChatUpdate(0, person, text, time))


def _furnish_talk(facts: Facts, rng: random.Random, thread: ChatThread, time: datetime) -> None:
    talk = rng.choice(SMALL_TALK)
    for place, (ours, text) in enumerate(talk):
        moment = time - timedelta(minutes=3 * (len(talk) - place))
        sender = ME if ours else rng.choice(thread.members)
        facts.add(ChatMessage(0, thread.id, sender, text, moment))
    if rng.random() < 0.35:
        sender = rng.choice(thread.members)
        facts.add(ChatMessage(0, thread.id, sender, "", time, seconds=rng.randrange(4, 70)))
    if rng.random() < 0.4:
        facts.add(UnreadThread(thread=thread.id))
