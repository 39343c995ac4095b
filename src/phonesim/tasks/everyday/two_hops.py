"""Two-hop tasks: a value that is read in one app is the key to a second value in another app.

A `Lookup` takes the value of a source (a person, a place, a city, a company) and gives another one,
read elsewhere. Acts use whichever of the two they take: a trip is booked to the city, the
temperature there is told.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import ClassVar

from phonesim.contents.timestamps import LONG_AGO
from phonesim.facts import Facts
from phonesim.tasks.everyday.parts import (
    PRONOUNS,
    Act,
    Composed,
    Gives,
    Part,
    Source,
    Value,
    build_template,
    template_name,
)
from phonesim.tasks.moves import Move
from phonesim.tasks.template import Template, View


class Lookup(Part):
    """A value that belongs to another one, which its `nouns` call "that person", "that city", …"""

    takes: ClassVar[Gives]
    gives: ClassVar[Gives]
    nouns: ClassVar[tuple[str, ...]]

    def prepare_for(self, facts: Facts, rng: random.Random, found: Value) -> None:
        """Put on the phone what is to be looked up about `found`."""

    def value(self, view: View, found: Value) -> Value:
        raise NotImplementedError

    def moves(self, start: View, found: Value) -> Iterable[Move]:
        """Yield the moves to where the value can be read."""
        raise NotImplementedError


class TwoHops(Composed):
    """A task that reads in one app, looks up in a second one, and acts in others."""

    source: ClassVar[type[Source]]
    lookup: ClassVar[type[Lookup]]
    acts: ClassVar[tuple[type[Act], ...]]

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self.source.of(self), self.lookup.of(self), *(act.of(self) for act in self.acts))

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        super().prepare(facts, rng)
        found = self.source.of(self).value(View(facts, LONG_AGO, "", "", (), {}))
        self.lookup.of(self).prepare_for(facts, rng, found)

    def _values(self, start: View) -> tuple[Value, Value]:
        found = self.source.of(self).value(start)
        return found, self.lookup.of(self).value(start, found)

    def missing(self, start: View, end: View) -> str | None:
        values = self._values(start)
        for act in self.acts:
            wrong = act.of(self).missing(start, end, values[not takes_found(self, act)])
            if wrong:
                return wrong
        return None

    def solve(self, start: View) -> Iterable[Move]:
        values = self._values(start)
        yield from self.source.of(self).moves(start)
        yield from self.lookup.of(self).moves(start, values[0])
        for act in self.acts:
            yield from act.of(self).moves(start, values[not takes_found(self, act)])


def takes_found(template: TwoHops | type[TwoHops], act: type[Act]) -> bool:
    """Return whether the act uses the value read first; otherwise it uses the looked-up one."""
    return _takes_found(template.source, template.lookup, act)


def _takes_found(source: type[Source], lookup: type[Lookup], act: type[Act]) -> bool:
    return bool(act.takes) and lookup.gives not in act.takes and source.gives in act.takes


def compose_two_hops(
    source: type[Source], lookup: type[Lookup], *acts: type[Act]
) -> type[Template]:
    """Return the template that reads the source, looks up the second value and does the acts."""
    name = template_name("hops", source, lookup, *acts)
    if source.gives != lookup.takes:
        raise ValueError(f"template {name}: {lookup.__name__} takes no {source.gives}")
    for act in acts:
        if act.takes and not {source.gives, lookup.gives}.intersection(act.takes):
            raise ValueError(f"template {name}: {act.__name__} takes neither value")
    return build_template(
        name,
        TwoHops,
        (source, lookup, *acts),
        phrasings=_sentences(source, lookup, acts),
        acts=acts,
        source=source,
        lookup=lookup,
    )


def _sentences(
    source: type[Source], lookup: type[Lookup], acts: Sequence[type[Act]]
) -> tuple[str, ...]:
    """Return the phrasings; all name the steps in the order in which they are done."""
    its = [PRONOUNS[(source if _takes_found(source, lookup, a) else lookup).gives] for a in acts]
    soon = [act.orders[0].replace("{it}", it) for act, it in zip(acts, its, strict=True)]
    later = [act.orders[-1].replace("{it}", it) for act, it in zip(acts, its, strict=True)]
    first, second, after = source.nouns, lookup.nouns, ". After that, "
    return (
        f"Look up {first[0]}. Then look up {second[0]}, and {', and '.join(soon)}",
        f"First find out {first[-1]}, then {second[-1]}{after}{after.join(later)}",
        f"Find {first[0]}, look up {second[-1]}, and then {after.join(soon)}",
    )
