"""The parts of which cross-app tasks are composed: where to read a value, and how to use it.

A `Source` puts a value on the phone and knows where it can be read; an `Act` uses a value in some
app and judges exactly that. `compose` makes a template of one source and one to three acts,
`compose_choice` one of a condition and two acts. A part is a frozen dataclass whose fields are
drawn from domains, as a template's are; the fields of all parts become the fields of the template,
so that splits, `fresh_words` and tests treat it like any other template.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import Any, ClassVar, Literal, Self, cast

from distrl.records import Difficulty
from phonesim.apps.everyday import install
from phonesim.contents.people import digits
from phonesim.facts import Facts
from phonesim.tasks.answers import MAX_WORDS, mentions, states_number, states_time
from phonesim.tasks.domains import domain_of
from phonesim.tasks.general.days import date_words, states_date
from phonesim.tasks.general.people import NAMES
from phonesim.tasks.moves import Move
from phonesim.tasks.template import Template, View

OPENING = 2.6  # steps to an app's icon, on average: home, a page of the home screen, the icon
LONG, HARD, MEDIUM = 12.4, 7.4, 3.4  # steps above which a task is long, hard, medium


@dataclass(frozen=True, slots=True)
class Cents:
    """An amount of money, in cents."""

    cents: int

    @property
    def typed(self) -> str:
        return f"{self.cents // 100}.{self.cents % 100:02}"


@dataclass(frozen=True, slots=True)
class PhoneNumber:
    """A phone number, with or without spaces."""

    number: str


Value = str | int | time | date | Cents | PhoneNumber
Gives = Literal[
    "words", "number", "time", "day", "cents", "phone", "person", "city", "company", "place"
]
PRONOUNS: dict[Gives, str] = {
    "words": "it", "number": "that number", "time": "that time", "day": "that day",
    "cents": "that amount", "phone": "that number", "person": "that person", "city": "that city",
    "company": "that company", "place": "that place",
}  # fmt: skip


def text_of(value: Value) -> str:
    """Return the value as a person would type it."""
    match value:
        case Cents():
            return value.typed
        case PhoneNumber():
            return value.number
        case time():
            return f"{value.hour:02}:{value.minute:02}"
        case date():
            return date_words(value)
    return str(value)


def says(text: str, value: Value) -> bool:
    """Return whether a text gives this value and no other of its type."""
    match value:
        case Cents():
            return states_number(text, value.cents / 100)
        case PhoneNumber():
            return len(text.split()) <= MAX_WORDS and digits(value.number) in digits(text)
        case time():
            return states_time(text, value)
        case date():
            return states_date(text, value)
        case int():
            return states_number(text, value)
    return mentions(text, value)


class Part:
    """Base class of sources, conditions, lookups and acts. Subclasses are frozen dataclasses."""

    app: ClassVar[str]
    steps: ClassVar[float]  # on average, without opening the app

    def words(self) -> dict[str, str]:
        """Return the texts for the placeholders of its phrases."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {f.name: domain_of(f).say(getattr(self, f.name)) for f in fields}

    def sensible(self) -> bool:
        return True

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        """Put on the phone what this part needs."""

    @classmethod
    def of(cls, task: Template) -> Self:
        """Return this part of a composed task, with the task's parameters."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        return cls(**{field.name: getattr(task, field.name) for field in fields})


class Source(Part):
    """A value that must be found first. `nouns` are phrases for it that use every field."""

    gives: ClassVar[Gives]
    nouns: ClassVar[tuple[str, ...]]

    def value(self, view: View) -> Value:
        raise NotImplementedError

    def moves(self, start: View) -> Iterable[Move]:
        """Yield the moves to where the value can be read."""
        raise NotImplementedError


class Condition(Part):
    """A statement that is true or false. `clauses` express it, such as "it rains in {city}"."""

    clauses: ClassVar[tuple[str, ...]]

    def holds(self, view: View) -> bool:
        raise NotImplementedError

    def moves(self, start: View) -> Iterable[Move]:
        raise NotImplementedError


class Act(Part):
    """Something to do, with or without a value. `orders` are imperatives; {it} is the value."""

    takes: ClassVar[tuple[Gives, ...]] = ()  # empty: any value
    orders: ClassVar[tuple[str, ...]]
    touches: ClassVar[tuple[type[Any], ...]]
    high_stakes: ClassVar[bool] = False

    def missing(self, start: View, end: View, value: Value) -> str | None:
        raise NotImplementedError

    def moves(self, start: View, value: Value) -> Iterable[Move]:
        raise NotImplementedError


class Composed(Template):
    """Base class of tasks that are composed of parts."""

    family = "everyday"

    @property
    def parts(self) -> tuple[Part, ...]:
        raise NotImplementedError

    def words(self) -> dict[str, str]:
        return {word: said for part in self.parts for word, said in part.words().items()}

    def sensible(self) -> bool:
        return people_differ(self) and all(part.sensible() for part in self.parts)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        install(facts, rng)
        for part in self.parts:
            part.prepare(facts, rng)


class CrossApp(Composed):
    """A task that reads in one app and acts in others."""

    source: ClassVar[type[Source]]
    acts: ClassVar[tuple[type[Act], ...]]

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self.source.of(self), *(act.of(self) for act in self.acts))

    def missing(self, start: View, end: View) -> str | None:
        value = self.source.of(self).value(start)
        reasons = (act.of(self).missing(start, end, value) for act in self.acts)
        return next((reason for reason in reasons if reason), None)

    def solve(self, start: View) -> Iterable[Move]:
        source = self.source.of(self)
        value = source.value(start)
        yield from source.moves(start)
        for act in self.acts:
            yield from act.of(self).moves(start, value)


class Choice(Composed):
    """A task that checks a condition and then does one of two things."""

    condition: ClassVar[type[Condition]]
    acts: ClassVar[tuple[type[Act], ...]]  # if so, if not

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self.condition.of(self), *(act.of(self) for act in self.acts))

    def _chosen(self, start: View) -> tuple[Act, Act]:
        """Return the act to be done and the act not to be done."""
        then, otherwise = (act.of(self) for act in self.acts)
        holds = self.condition.of(self).holds(start)
        return (then, otherwise) if holds else (otherwise, then)

    def missing(self, start: View, end: View) -> str | None:
        wanted, other = self._chosen(start)
        for kind in other.touches:
            if kind not in wanted.touches and start.all(kind) != end.all(kind):
                return f"that was for the other case: {kind.__name__}"
        return wanted.missing(start, end, "")

    def solve(self, start: View) -> Iterable[Move]:
        yield from self.condition.of(self).moves(start)
        yield from self._chosen(start)[0].moves(start, "")


def people_differ(task: Template) -> bool:
    """Return whether the people in a task are all different."""
    fields = dataclasses.fields(task)  # type: ignore[arg-type]
    people = [getattr(task, field.name) for field in fields if domain_of(field) is NAMES]
    return len(people) == len(set(people))


def compose(source: type[Source], *acts: type[Act], held_out: bool = False) -> type[Template]:
    """Return the template that reads the source's value and does the acts with it."""
    name = template_name("across", source, *acts)
    for act in acts:
        if act.takes and source.gives not in act.takes:
            raise ValueError(f"template {name}: {act.__name__} takes no {source.gives}")
    return build_template(
        name,
        CrossApp,
        (source, *acts),
        phrasings=_sentences(source, acts),
        acts=acts,
        source=source,
        held_out=held_out,
    )


def compose_choice(
    condition: type[Condition], then: type[Act], otherwise: type[Act]
) -> type[Template]:
    """Return the template that does `then` if the condition holds, and else `otherwise`."""
    name = template_name("if", condition, then, otherwise)
    clauses, yes, no = condition.clauses, then.orders, otherwise.orders
    phrasings = (
        f"If {clauses[0]}, {yes[0]}. Otherwise {no[0]}",
        f"Check whether {clauses[-1]}. If so, {yes[-1]}; if not, {no[-1]}",
        f"{capital(yes[0])} if {clauses[0]}; if not, {no[-1]}",
    )
    return build_template(
        name,
        Choice,
        (condition, then, otherwise),
        phrasings=phrasings,
        acts=(then, otherwise),
        condition=condition,
    )


def template_name(kind: str, read: type[Part], *acts: type[Part]) -> str:
    """Return a name such as across.mailed_bill.tell_chat: the parts in their order."""
    words = (re.sub(r"(?<!^)(?=[A-Z])", "_", part.__name__).lower() for part in (read, *acts))
    return f"{kind}." + ".".join(words)


def build_template(
    name: str, base: type[Template], parts: Sequence[type[Part]], **members: Any
) -> type[Template]:
    """Return a template with the fields of all parts; `members` are further class attributes."""
    fields: dict[str, tuple[str, Any, Any]] = {}
    for part in parts:
        for field in dataclasses.fields(part):  # type: ignore[arg-type]
            if field.name in fields:
                raise ValueError(f"template {name}: two parts have a field {field.name}")
            copied = dataclasses.field(metadata=field.metadata)
            fields[field.name] = (field.name, field.type, copied)
    acts: tuple[type[Act], ...] = members["acts"]
    members |= {
        "name": name,
        "apps": tuple(dict.fromkeys(part.app for part in parts)),
        "difficulty": _difficulty(parts, choice=base is Choice),
        "touches": tuple(dict.fromkeys(kind for act in acts for kind in act.touches)),
        "high_stakes": any(act.high_stakes for act in acts),
        "__module__": __name__,
    }
    title = "".join(word.capitalize() for word in name.replace(".", "_").split("_"))
    made = dataclasses.make_dataclass(
        title, list(fields.values()), bases=(base,), namespace=members, frozen=True
    )
    return cast("type[Template]", made)


def _difficulty(parts: Sequence[type[Part]], *, choice: bool) -> Difficulty:
    read, *acts = parts
    done = [part.steps + (OPENING if part.app != read.app else 0) for part in acts]
    steps = read.steps + OPENING - 1 + (sum(done) / len(done) if choice else sum(done))
    return "long" if steps > LONG else "hard" if steps > HARD else "medium"


def _sentences(source: type[Source], acts: Sequence[type[Act]]) -> tuple[str, ...]:
    """Return the phrasings: in one sentence, step by step, and with the value looked up first."""
    nouns, it = source.nouns, PRONOUNS[source.gives]
    first, rest = acts[0], acts[1:]
    at_once = first.orders[0].replace("{it}", nouns[0])
    other = first.orders[-1].replace("{it}", nouns[-1])
    later = "".join(f", and {act.orders[0].replace('{it}', it)}" for act in rest)
    after = "".join(f". After that, {act.orders[-1].replace('{it}', it)}" for act in rest)
    then = first.orders[-1].replace("{it}", it)
    return (
        f"{capital(at_once)}{later}",
        f"Look up {nouns[-1]}. Then {then}{after}",
        f"Please {other}{after}",
        f"First find out {nouns[0]}, then {first.orders[0].replace('{it}', it)}{later}",
    )


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
