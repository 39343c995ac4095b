"""Tasks in the app Phone about past calls and blocked numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.calls import (
    BlockedNumber,
    Call,
    Direction,
    blocked_number,
    lasting,
)
from phonesim.contents.people import Contact
from phonesim.facts import Facts
from phonesim.tasks.answers import states_number
from phonesim.tasks.domains import parameter
from phonesim.tasks.general.calls import called, forget_calls
from phonesim.tasks.general.differences import only_added, only_removed
from phonesim.tasks.general.new_contacts import wrong_contact
from phonesim.tasks.general.people import NAMES, NEW_NAMES, NUMBERS, contact_named, known
from phonesim.tasks.moves import Fill, Move, Open, Press, Say
from phonesim.tasks.template import Template, View


@dataclass(frozen=True)
class DeleteCall(Template):
    name = "phone.delete_call"
    apps = ("Phone",)
    difficulty = "medium"
    phrasings = (
        "Delete the call with {person} from the call log",
        "Remove {person}'s call from my recent calls",
        "Nobody needs to see that {person} and I talked. Delete that call in Phone",
    )
    touches = (Call,)
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        number = known(facts, self.person, rng).phone
        forget_calls(facts, number)
        called(facts, number, rng.choice(("incoming", "outgoing")), rng.randrange(20, 900))
        others = [contact.phone for contact in facts.all(Contact) if contact.phone != number]
        called(facts, rng.choice(others), "missed")

    def _call(self, view: View) -> Call:
        number = contact_named(view, self.person).phone
        return next(call for call in view.all(Call) if call.number == number)

    def missing(self, start: View, end: View) -> str | None:
        return only_removed(start, end, Call, self._call(start).id)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Recents", role="tab")
        yield Press(self.person)
        yield Press("Delete call")


@dataclass(frozen=True)
class BlockCaller(Template):
    name = "phone.block"
    apps = ("Phone",)
    difficulty = "medium"
    phrasings = (
        "Block the number {number} that keeps calling me",
        "I do not want any more calls from {number}. Block it",
        "There is a call from {number} in the log. Block that number",
    )
    touches = (BlockedNumber,)
    number: str = parameter(NUMBERS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        for _ in range(rng.randrange(1, 3)):
            called(facts, self.number, "missed")
        called(facts, rng.choice(facts.all(Contact)).phone, "incoming", rng.randrange(9, 500))

    def missing(self, start: View, end: View) -> str | None:
        wrong = only_added(start, end, BlockedNumber)
        if wrong:
            return wrong
        right = blocked_number(end.facts, self.number)
        return None if right else "another number was blocked"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Recents", role="tab")
        yield Press(self.number)
        yield Press("Block number")
        yield Press("Block")


@dataclass(frozen=True)
class Unblock(Template):
    name = "phone.unblock"
    apps = ("Phone",)
    difficulty = "medium"
    phrasings = (
        "Unblock the number {number}",
        "{number} may call me again. Take it off the blocked numbers",
        "Remove {number} from the list of blocked numbers in Phone",
    )
    touches = (BlockedNumber,)
    number: str = parameter(NUMBERS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.add(BlockedNumber(number=self.number))

    def missing(self, start: View, end: View) -> str | None:
        blocked = blocked_number(start.facts, self.number)
        return only_removed(start, end, BlockedNumber, blocked.id if blocked else 0)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("More options")
        yield Press("Blocked numbers")
        yield Press(f"Unblock {self.number}")


@dataclass(frozen=True)
class SaveCaller(Template):
    name = "phone.save_caller"
    apps = ("Phone", "Contacts")
    difficulty = "medium"
    phrasings = (
        "The call from {number} was {person}. Save that in my contacts",
        "{number} in my call log is {person}. Create the contact",
        "Add the caller {number} to Contacts under the name {person}",
    )
    touches = (Contact,)
    person: str = parameter(NEW_NAMES)
    number: str = parameter(NUMBERS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        called(facts, self.number, "incoming", rng.randrange(9, 500))

    def missing(self, start: View, end: View) -> str | None:
        return wrong_contact(start, end, Contact(name=self.person, phone=self.number))

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Recents", role="tab")
        yield Press(self.number)
        yield Press("Add contact")
        yield Fill("Name", self.person)
        yield Press("Save")


@dataclass(frozen=True)
class AskDuration(Template):
    name = "phone.ask_duration"
    apps = ("Phone",)
    difficulty = "easy"
    phrasings = (
        "How long was my last call with {person}? Give minutes and seconds",
        "How many minutes and seconds did I talk to {person} the last time?",
        "Look up the duration of my latest phone call with {person}, in minutes and seconds",
    )
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        number = known(facts, self.person, rng).phone
        for direction in ("incoming", "outgoing"):
            called(facts, number, direction, 60 * rng.randrange(1, 40) + rng.randrange(1, 60))

    def _seconds(self, view: View) -> int:
        number = contact_named(view, self.person).phone
        calls = [call for call in view.all(Call) if call.number == number]
        return max(calls, key=lambda call: call.time).seconds

    def missing(self, start: View, end: View) -> str | None:
        minutes, seconds = divmod(self._seconds(start), 60)
        said = [int(number) for number in re.findall(r"\d+", end.answer or "")]
        right = said == [minutes, seconds]
        return None if right else f"it lasted {minutes} minutes and {seconds} seconds"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Recents", role="tab")
        yield Press(self.person)
        yield Say(lasting(self._seconds(start)))


@dataclass(frozen=True)
class CountMissedCalls(Template):
    name = "phone.count_missed"
    apps = ("Phone",)
    difficulty = "easy"
    phrasings = (
        "How many calls from {person} did I miss?",
        "How often did {person} call without reaching me? Count the missed calls",
        "Tell me the number of missed calls from {person}",
    )
    person: str = parameter(NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        number = known(facts, self.person, rng).phone
        forget_calls(facts, number)
        calls: list[Direction] = ["missed"] * rng.randrange(1, 9)
        calls.extend(["incoming"] * rng.randrange(0, 3))
        calls.extend(["outgoing"] * rng.randrange(0, 2))
        rng.shuffle(calls)
        for direction in calls:
            called(facts, number, direction, 0 if direction == "missed" else rng.randrange(9, 500))

    def _count(self, view: View) -> int:
        number = contact_named(view, self.person).phone
        calls = [call for call in view.all(Call) if call.number == number]
        return sum(call.direction == "missed" for call in calls)

    def missing(self, start: View, end: View) -> str | None:
        count = self._count(start)
        return None if states_number(end.answer, count) else f"{count} calls were missed"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Phone")
        yield Press("Recents", role="tab")
        yield Press("Missed")
        yield Say(str(self._count(start)))


TEMPLATES: tuple[type[Template], ...] = (
    DeleteCall,
    BlockCaller,
    Unblock,
    SaveCaller,
    AskDuration,
    CountMissedCalls,
)
