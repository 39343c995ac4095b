"""Tasks in the app Messages in which a message is sent."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.conversations import (
    Conversation,
    Message,
    UnreadConversation,
    conversation_with,
    mark_read,
)
from phonesim.contents.people import Contact, digits
from phonesim.facts import Facts
from phonesim.tasks.answers import mentions
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.chats import (
    chat_of,
    not_sent,
    received,
    talk_to,
    wrong_message,
)
from phonesim.tasks.general.people import NAMES, TEXTS, contact_named, known
from phonesim.tasks.moves import Fill, GoBack, Move, Open, Press
from phonesim.tasks.template import Template, View

STREETS = (
    "Willow Lane", "Market Square", "Harbour Street", "Mill Road", "Orchard Way", "Castle Hill",
    "River Walk", "Station Road",
)  # fmt: skip


@dataclass(frozen=True)
class SendMessage(Template):
    name = "messages.send"
    apps = ("Messages",)
    difficulty = "medium"
    phrasings = (
        'Send {person} the message "{text}"',
        'Text {person}: "{text}"',
        'Write "{text}" to {person}',
        'Please let {person} know by text message: "{text}"',
    )
    touches = (Message, Conversation)
    person: str = parameter(NAMES)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        talk_to(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        return not_sent(start, end, contact_named(start, self.person).phone, self.text)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press(self.person)
        yield Fill("Text message", self.text)
        yield Press("Send")


@dataclass(frozen=True)
class StartConversation(Template):
    name = "messages.start"
    apps = ("Messages",)
    difficulty = "medium"
    phrasings = (
        'Start a new conversation with {person} and write "{text}"',
        'I have never texted {person}. Send "{text}" as the first message',
        'Begin a chat with {person} in Messages: "{text}"',
    )
    touches = (Message, Conversation)
    person: str = parameter(NAMES)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        chat = conversation_with(facts, known(facts, self.person, rng).phone)
        if chat:
            facts.remove_where(Message, lambda m: m.conversation == chat.id)
            mark_read(facts, chat)
            facts.remove(chat)

    def missing(self, start: View, end: View) -> str | None:
        return not_sent(start, end, contact_named(start, self.person).phone, self.text)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press("New message", role="button")
        yield Press(self.person)
        yield Fill("Text message", self.text)
        yield Press("Send")


@dataclass(frozen=True)
class ReplyToNewest(Template):
    name = "messages.reply_newest"
    apps = ("Messages",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        'Answer the newest message with "{text}"',
        'Reply "{text}" to whoever texted me last',
        'Somebody just wrote to me. Write back: "{text}"',
    )
    touches = (Message, Conversation)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        chat = received(facts, rng.choice(facts.all(Contact)).phone, "Are you there?")
        facts.add(UnreadConversation(conversation=chat.id))

    def _sender(self, view: View) -> Contact:
        newest = max(view.all(Message), key=lambda m: (m.time, m.id))
        number = view.facts.get(Conversation, newest.conversation).number
        return next(c for c in view.all(Contact) if c.phone == number)

    def missing(self, start: View, end: View) -> str | None:
        return not_sent(start, end, self._sender(start).phone, self.text)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press(self._sender(start).name)
        yield Fill("Text message", self.text)
        yield Press("Send")


@dataclass(frozen=True)
class SendNumber(Template):
    name = "messages.send_number"
    apps = ("Contacts", "Messages")
    difficulty = "hard"
    phrasings = (
        "Send {other}'s phone number to {person} in a text message",
        "{person} needs the number of {other}. Text it",
        "Look up the phone number of {other} and send it to {person} as a message",
    )
    touches = (Message, Conversation)
    person: str = parameter(NAMES)
    other: str = parameter(NAMES)

    def sensible(self) -> bool:
        return self.person != self.other

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.other, rng)
        received(facts, known(facts, self.person, rng).phone, "Do you have the number?")

    def missing(self, start: View, end: View) -> str | None:
        new = wrong_message(start, end, contact_named(start, self.person).phone)
        if isinstance(new, str):
            return new
        number = contact_named(start, self.other).phone
        right = digits(new.text) == digits(number)
        return None if right else f"the message says {new.text!r}; the number is {number}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Contacts")
        yield Press(self.other)
        yield Open("Messages")
        yield Press(self.person)
        yield Fill("Text message", contact_named(start, self.other).phone)
        yield Press("Send")


@dataclass(frozen=True)
class PassOnAddress(Template):
    name = "messages.pass_on"
    apps = ("Messages",)
    difficulty = "medium"
    phrasings = (
        "{other} has texted me an address. Pass it on to {person}",
        "Send {person} the address that {other} sent me",
        "{person} asks where {other} lives now. Look in my messages and answer with the address",
    )
    touches = (Message, Conversation)
    person: str = parameter(NAMES)
    other: str = parameter(NAMES)

    def sensible(self) -> bool:
        return self.person != self.other

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        number = known(facts, self.other, rng).phone
        address = f"{rng.randrange(2, 99)} {rng.choice(STREETS)}"
        received(facts, number, f"We have moved! The new address: {address}")
        received(facts, number, "See you soon", ours=True)
        received(facts, known(facts, self.person, rng).phone, "Are you free on Sunday?")

    def _address(self, view: View) -> str:
        chat = chat_of(view, self.other)
        texts = [m.text for m in view.all(Message) if m.conversation == chat.id]
        return next(text for text in texts if "new address: " in text).split(": ")[1]

    def missing(self, start: View, end: View) -> str | None:
        new = wrong_message(start, end, contact_named(start, self.person).phone)
        if isinstance(new, str):
            return new
        address = self._address(start)
        right = mentions(new.text, address)
        return None if right else f"the message says {new.text!r}; the address is {address}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press(self.other)
        yield GoBack()
        yield Press(self.person)
        yield Fill("Text message", self._address(start))
        yield Press("Send")


TEMPLATES: tuple[type[Template], ...] = (
    SendMessage,
    StartConversation,
    ReplyToNewest,
    SendNumber,
    PassOnAddress,
)
