"""Questions that messages answer."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.conversations import (
    Message,
)
from phonesim.contents.timestamps import clock
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.answers import mentions, states_time
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.chats import (
    chat_of,
    chat_with,
    received,
)
from phonesim.tasks.general.people import NAMES, TEXTS, known
from phonesim.tasks.moves import Move, Open, Press, Say
from phonesim.tasks.template import Template, View

SERVICES = Domain(
    "services that write",
    (
        "Amber Bank", "Birch Pharmacy", "Cloudberry Games", "Delta Taxi", "Eastwind Post",
        "Falcon Airways", "Ginger Kitchen", "Harvest Box", "Ivory Hotel", "Jade Tickets",
        "Kestrel Gym", "Lilac Insurance",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class AskWhatWasWritten(Template):
    name = "messages.ask_text"
    apps = ("Messages",)
    difficulty = "easy"
    phrasings = (
        "What was the last thing {person} wrote to me?",
        "Read me the last message that {person} sent",
        "What does the latest text from {person} say?",
    )
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        number = known(facts, self.person, rng).phone
        received(facts, number, rng.choice(TEXTS.values("held_out_templates")))
        received(facts, number, rng.choice(("Good to know", "All right", "Thanks!")), ours=True)

    def _text(self, view: View) -> str:
        chat = chat_of(view, self.person)
        theirs = [m for m in view.all(Message) if m.conversation == chat.id and not m.ours]
        return max(theirs, key=lambda m: (m.time, m.id)).text

    def missing(self, start: View, end: View) -> str | None:
        text = self._text(start)
        others = [m.text for m in start.all(Message)]
        return None if mentions(end.answer, text, others) else f"{self.person} wrote {text!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press(self.person)
        yield Say(self._text(start))


@dataclass(frozen=True)
class AskTime(Template):
    name = "messages.ask_time"
    apps = ("Messages",)
    difficulty = "easy"
    phrasings = (
        'At what time did {person} send the message "{text}"?',
        '{person} wrote "{text}". What time was that?',
        'When exactly did the text "{text}" from {person} arrive? Give the time',
    )
    person: str = parameter(NAMES)
    text: str = parameter(TEXTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        number = known(facts, self.person, rng).phone
        received(facts, number, self.text)
        for _ in range(rng.randrange(1, 4)):
            received(facts, number, rng.choice(("Hm", "And?", "Hello?")), ours=rng.random() < 0.5)

    def _message(self, view: View) -> Message:
        chat = chat_of(view, self.person)
        return next(
            m for m in view.all(Message) if (m.conversation, m.text) == (chat.id, self.text)
        )

    def missing(self, start: View, end: View) -> str | None:
        sent = self._message(start).time
        right = states_time(end.answer, sent.time())
        return None if right else f"it was sent at {clock(sent, True)}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press(self.person)
        yield Say(clock(self._message(start).time, start.one(SystemSettings).use_24_hour))


@dataclass(frozen=True)
class AskCode(Template):
    name = "messages.ask_code"
    apps = ("Messages",)
    difficulty = "easy"
    phrasings = (
        "Which code did {service} send me by text?",
        "Look up the code in the message from {service}",
        "{service} has texted me a code. What is it?",
    )
    service: str = parameter(SERVICES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        code = rng.randrange(100_000, 1_000_000)
        text = f"Thank you for choosing {self.service}. Tell nobody else, the code is {code}"
        received(facts, self.service, text)
        received(facts, self.service, "Anything unclear? Just ask us here.")

    def _code(self, view: View) -> str:
        chat = chat_with(view, self.service)
        texts = [m.text for m in view.all(Message) if m.conversation == chat.id]
        return next(text for text in texts if text[-1].isdecimal()).split()[-1]

    def missing(self, start: View, end: View) -> str | None:
        code = self._code(start)
        return None if mentions(end.answer, code) else f"the code is {code}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Messages")
        yield Press(self.service)
        yield Say(self._code(start))


TEMPLATES: tuple[type[Template], ...] = (
    AskWhatWasWritten,
    AskTime,
    AskCode,
)
