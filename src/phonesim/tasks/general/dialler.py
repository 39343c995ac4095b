"""Tasks in the app Phone in which somebody is called or called back."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.calls import (
    Call,
)
from phonesim.contents.conversations import Conversation, Message
from phonesim.contents.people import Contact, digits
from phonesim.facts import Facts
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.calls import called, last_missed, not_called
from phonesim.tasks.general.chats import (
    not_sent,
)
from phonesim.tasks.general.people import NAMES, NUMBERS, TEXTS, contact_named, known
from phonesim.tasks.moves import Fill, Move, Open, Press
from phonesim.tasks.template import Template, View, added

SHORT_NUMBERS = Domain(
    "short numbers",
    (
        "1904", "2210", "3377", "4051", "5582", "6148", "7203", "8866", "9415", "1520", "2739",
        "3606", "4992", "6071", "7438", "8125",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class CallContact(Template):
    name = "phone.call"
    apps = ("Phone",)
    difficulty = "easy"
    phrasings = (
        "Call {person}",
        "Give {person} a ring",
        "I would like to talk to {person}. Start a call",
        "Phone {person}, please",
    )
    touches = (Call,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        return not_called(start, end, contact_named(start, self.person).phone)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Contacts", role="tab")
        yield Press(f"Call {self.person}")


@dataclass(frozen=True)
class CallOnSpeaker(Template):
    name = "phone.call_on_speaker"
    apps = ("Phone",)
    difficulty = "medium"
    phrasings = (
        "Call {person} and turn the speaker on",
        "Start a call with {person} on speaker",
        "Ring {person}, and put the call on loudspeaker",
    )
    touches = (Call,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        wrong = not_called(start, end, contact_named(start, self.person).phone)
        if wrong:
            return wrong
        (call,) = added(start, end, Call)
        return None if call.speaker and not call.muted else "the call is not just on speaker"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Contacts", role="tab")
        yield Press(f"Call {self.person}")
        yield Press("Speaker")


@dataclass(frozen=True)
class CallAndHangUp(Template):
    name = "phone.ring_once"
    apps = ("Phone",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        "Let {person}'s phone ring: start a call, then hang up again",
        "Call {person} briefly, then end the call",
        "Ring {person} and hang up",
    )
    touches = (Call,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        known(facts, self.person, rng)

    def missing(self, start: View, end: View) -> str | None:
        wrong = not_called(start, end, contact_named(start, self.person).phone)
        if wrong:
            return wrong
        (call,) = added(start, end, Call)
        return None if call.ended else "the call is still going on"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Contacts", role="tab")
        yield Press(f"Call {self.person}")
        yield Press("Hang up")


@dataclass(frozen=True)
class DialNumber(Template):
    name = "phone.dial"
    apps = ("Phone",)
    difficulty = "hard"
    phrasings = (
        "Dial {number}",
        "Call the number {number}",
        "Use the keypad to call {number}",
        "Please phone {number} for me",
    )
    touches = (Call,)
    number: str = parameter(NUMBERS)

    def missing(self, start: View, end: View) -> str | None:
        return not_called(start, end, self.number)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        for digit in digits(self.number):
            yield Press(digit, role="button")
        yield Press("Call", role="button")


@dataclass(frozen=True)
class DialShortNumber(Template):
    name = "phone.dial_short"
    apps = ("Phone",)
    difficulty = "medium"
    phrasings = (
        "Call the hotline {number}",
        "Dial the short number {number}",
        "Ring the service line {number}",
    )
    touches = (Call,)
    number: str = parameter(SHORT_NUMBERS)

    def missing(self, start: View, end: View) -> str | None:
        return not_called(start, end, self.number)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        for digit in self.number:
            yield Press(digit, role="button")
        yield Press("Call", role="button")


@dataclass(frozen=True)
class CallBack(Template):
    name = "phone.call_back"
    apps = ("Phone",)
    difficulty = "easy"
    held_out = True
    phrasings = (
        "Call back the person whose call I missed last",
        "I have missed a call. Ring that number back",
        "Return the latest missed call",
    )
    touches = (Call,)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        people = rng.sample(facts.all(Contact), 3)
        called(facts, people[0].phone, "missed")
        for person in people[1 : rng.randrange(1, 4)]:
            called(facts, person.phone, rng.choice(("incoming", "outgoing")), rng.randrange(9, 99))

    def missing(self, start: View, end: View) -> str | None:
        return not_called(start, end, last_missed(start).number)

    def solve(self, start: View) -> Iterable[Move]:
        number = last_missed(start).number
        name = next(c.name for c in start.all(Contact) if c.phone == number)
        yield Open("Phone")
        yield Press("Recents", role="tab")
        yield Press(f"Call {name}")


@dataclass(frozen=True)
class TextMissedCaller(Template):
    name = "phone.text_missed_caller"
    apps = ("Phone", "Messages")
    difficulty = "medium"
    phrasings = (
        'Text the person whose call I missed last: "{text}"',
        'See whose call I missed last and send that person "{text}"',
        'Answer my latest missed call with a text message: "{text}"',
    )
    touches = (Message, Conversation)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        CallBack().prepare(facts, rng)

    def missing(self, start: View, end: View) -> str | None:
        return not_sent(start, end, last_missed(start).number, self.text)

    def solve(self, start: View) -> Iterable[Move]:
        number = last_missed(start).number
        name = next(c.name for c in start.all(Contact) if c.phone == number)
        yield Open("Phone")
        yield Press("Recents", role="tab")
        yield Press(name, detail="Missed call")
        yield Press("Message")
        yield Fill("Text message", self.text)
        yield Press("Send")


TEMPLATES: tuple[type[Template], ...] = (
    CallContact,
    CallOnSpeaker,
    CallAndHangUp,
    DialNumber,
    DialShortNumber,
    CallBack,
    TextMissedCaller,
)
