"""Tasks in the app Calculator."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from distrl.records import Difficulty
from phonesim.apps.arithmetic import evaluate, shown
from phonesim.apps.calculator import Calculation
from phonesim.apps.notes import Note
from phonesim.facts import Facts
from phonesim.tasks.answers import states_number
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.differences import only_removed
from phonesim.tasks.moves import Hold, Move, Open, Press, Reveal, Say
from phonesim.tasks.template import Template, View, added

SIGNS = str.maketrans({"*": "×", "x": "×", "/": "÷", ":": "÷", "-": "−", "–": "−"})
MAX_SUM = 4  # keys; a division may have one more
RIGHTS = (3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 18, 24)


def _sums() -> tuple[str, ...]:
    """Return short calculations with distinct results, so that a result identifies one of them."""
    rng = random.Random("sums")
    found: list[str] = []
    while len(found) < 160:
        left, right, operator = rng.randrange(12, 99), rng.choice(RIGHTS), rng.choice("+−×÷")
        first = left * right if operator == "÷" else left + right if operator == "−" else left
        keys = f"{first}{operator}{right}"
        if len(keys) <= MAX_SUM + (operator == "÷"):
            found.append(keys)
    return tuple({evaluate(keys): keys for keys in found}.values())


def _bracketed() -> tuple[str, ...]:
    rng = random.Random("bracketed sums")
    found: list[str] = []
    while len(found) < 120:
        small, large = rng.randrange(2, 9), rng.randrange(11, 49)
        found.append(f"({large}{rng.choice('+−')}{small})×{rng.randrange(3, 9)}")
    return tuple(dict.fromkeys(found))


def _spaced(expression: str) -> str:
    """Return the expression with spaces around its operators."""
    for operator in "+−×÷":
        expression = expression.replace(operator, f" {operator} ")
    return expression


SUMS = Domain("sums", _sums(), say=_spaced)
BRACKETED = Domain("bracketed sums", _bracketed(), say=_spaced)
SHARES = Domain("shares", (5, 8, 12, 15, 18, 20, 25, 30, 35, 40), say=lambda n: f"{n} %")
AMOUNTS = Domain("amounts", tuple(range(20, 400, 20)))
GUESTS = Domain("guests", (3, 4, 5, 6, 7, 8), say=lambda n: f"{n} people")
OCCASIONS = Domain(
    "occasions",
    (
        "Dinner", "Boat trip", "Pizza night", "Museum", "Camping", "Concert", "Picnic", "Bowling",
        "Ski day", "Brunch", "Cinema", "Karaoke",
    ),
)  # fmt: skip


def number_of(expression: str) -> float:
    return float(evaluate(expression))


def press_keys(keys: str) -> Iterable[Move]:
    return (Press(key, role="button") for key in keys)


def answer_missing(end: View, value: float, *question: str) -> str | None:
    right = states_number(end.answer, value, question)
    return None if right else f"it is {value:g}; the answer: {end.answer!r}"


def not_calculated(start: View, end: View, expression: str) -> str | None:
    """Return None if the calculator gave this result: mental arithmetic alone does not count."""
    result = shown(evaluate(expression))
    lines = added(start, end, Calculation)
    if any(line.result == result != line.expression for line in lines):
        return None
    return f"the calculator was not used: nothing new in its history gives {result}"


def names_expression(answer: str | None, expression: str) -> bool:
    """Return whether the answer contains this expression, in any spacing, and no other."""
    said = re.sub(r"\s", "", answer or "").translate(SIGNS)
    return set(re.findall(r"\d+[+−×÷]\d+", said)) == {expression}


@dataclass(frozen=True)
class AskSum(Template):
    name = "calculator.ask_sum"
    apps = ("Calculator",)
    difficulty: ClassVar[Difficulty] = "medium"
    phrasings = (
        "What is {sum}? Use the calculator",
        "Work out {sum} in the calculator and tell me the result",
        "Please let the calculator tell you what {sum} is, and then tell me",
    )
    sum: str = parameter(SUMS)

    def missing(self, start: View, end: View) -> str | None:
        wrong = not_calculated(start, end, self.sum)
        return wrong or answer_missing(end, number_of(self.sum), self.sum)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Calculator")
        yield from press_keys(f"{self.sum}=")
        yield Say(shown(evaluate(self.sum)).replace("−", "-"))


@dataclass(frozen=True)
class AskBracketed(AskSum):
    name = "calculator.ask_bracketed"
    difficulty = "hard"
    held_out = True
    sum: str = parameter(BRACKETED)


@dataclass(frozen=True)
class ShowSum(Template):
    name = "calculator.show_sum"
    apps = ("Calculator",)
    difficulty = "medium"
    phrasings = (
        "Work out {sum} in the calculator and leave the result on its display",
        "Open the calculator and let it show the result of {sum}",
        "Calculate {sum}; I want to see the result on the calculator's screen",
    )
    sum: str = parameter(SUMS)

    def missing(self, start: View, end: View) -> str | None:
        display = str(end.memory.get("keyed", ""))
        result = shown(evaluate(self.sum))
        if (end.app, end.page, display) != ("Calculator", "home", result):
            return f"{result} should be on the display; in front: {end.app}, keyed in: {display!r}"
        return not_calculated(start, end, self.sum)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Calculator")
        yield from press_keys(f"{self.sum}=")


@dataclass(frozen=True)
class AskShare(Template):
    name = "calculator.ask_share"
    apps = ("Calculator",)
    difficulty = "hard"
    phrasings = (
        "How much is {share} of {amount}? Ask the calculator",
        "What is {share} of {amount}? Use the calculator",
        "Calculate {share} of {amount} in the calculator and tell me the result",
    )
    share: int = parameter(SHARES)
    amount: int = parameter(AMOUNTS)

    @property
    def keys(self) -> str:
        return f"{self.share}%×{self.amount}"

    def missing(self, start: View, end: View) -> str | None:
        wrong = not_calculated(start, end, self.keys)
        return wrong or answer_missing(end, number_of(self.keys), self.keys)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Calculator")
        yield from press_keys(f"{self.keys}=")
        yield Say(shown(evaluate(self.keys)))


@dataclass(frozen=True)
class AskHistory(Template):
    name = "calculator.ask_history"
    apps = ("Calculator",)
    difficulty: ClassVar[Difficulty] = "easy"
    phrasings = (
        "Which calculation in the calculator's history gave {result}?",
        "Look into the history of the calculator: what did I calculate to get {result}?",
        "I once got {result} in the calculator. Find that line of its history and tell me the sum",
    )
    sum: str = parameter(SUMS)

    def words(self) -> dict[str, str]:
        return {"result": shown(evaluate(self.sum))}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        result = evaluate(self.sum)
        others = [other for other in SUMS.train if evaluate(other) != result]
        lines = [*rng.sample(others, 5), self.sum]
        rng.shuffle(lines)
        for line in lines:
            facts.add(Calculation(expression=line, result=shown(evaluate(line))))

    def missing(self, start: View, end: View) -> str | None:
        right = names_expression(end.answer, self.sum)
        return None if right else f"it was {self.sum}; the answer: {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Calculator")
        yield Press("History")
        yield Say(_spaced(self.sum))


@dataclass(frozen=True)
class DeleteCalculation(AskHistory):
    name = "calculator.delete_calculation"
    difficulty = "medium"
    phrasings = (
        "Delete the calculation {sum} from the calculator's history",
        "Remove {sum} from the history of the calculator, and nothing else",
        "Take the line {sum} out of my calculator's history",
    )
    touches = (Calculation,)

    def words(self) -> dict[str, str]:
        return {"sum": _spaced(self.sum)}

    def missing(self, start: View, end: View) -> str | None:
        lines = [line.id for line in start.all(Calculation) if line.expression == self.sum]
        return only_removed(start, end, Calculation, *lines)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Calculator")
        yield Press("History")
        yield Hold(self.sum)
        yield Press("Delete")


@dataclass(frozen=True)
class SplitBill(Template):
    name = "calculator.split_bill"
    apps = ("Calculator", "Notes")
    difficulty = "hard"
    phrasings = (
        'What does each of us pay for "{occasion}"? We are {guests}; the total is in my notes',
        'The cost of "{occasion}" is in Notes. Split it among {guests} and tell me what each pays',
        'Find the note "{occasion}" and work out how much each pays if {guests} share the total',
    )
    occasion: str = parameter(OCCASIONS)
    guests: int = parameter(GUESTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        total = self.guests * rng.randrange(11, 45)
        facts.add(Note(title=self.occasion, text=f"Total: {total} euros"))

    def total(self, view: View) -> int:
        note = next(note for note in view.all(Note) if note.title == self.occasion)
        return int(note.text.split()[1])

    def missing(self, start: View, end: View) -> str | None:
        total = self.total(start)
        return answer_missing(end, total / self.guests, f"{total} by {self.guests}")

    def solve(self, start: View) -> Iterable[Move]:
        total = self.total(start)
        yield Open("Notes")
        yield Reveal(self.occasion)
        yield Open("Calculator")
        yield from press_keys(f"{total}÷{self.guests}=")
        yield Say(f"{total // self.guests} euros")


TEMPLATES: tuple[type[Template], ...] = (
    AskSum,
    AskBracketed,
    ShowSum,
    AskShare,
    AskHistory,
    DeleteCalculation,
    SplitBill,
)
