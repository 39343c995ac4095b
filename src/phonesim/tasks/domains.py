"""Domains: the values that task parameters may take, divided between training and testing.

All templates that use a domain share its division: a name kept for testing occurs in no training
instruction of any of them. `reserved` values (for example, of a held-out shop) occur only in the
split `held_out_apps`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, cast

from distrl.records import Split

T = TypeVar("T")
TEST_SHARE = 4  # one value in four is kept for testing


class Domain(Generic[T]):
    """A named set of values, with the function `say` that writes a value into an instruction."""

    def __init__(
        self,
        name: str,
        values: Sequence[T],
        say: Callable[[T], str] = str,
        reserved: Sequence[T] = (),
    ) -> None:
        if len(values) < 4:
            raise ValueError(f"domain {name}: {len(values)} values; a split needs at least 4")
        self.name = name
        self.say = say
        self.reserved = tuple(reserved)
        ranked = sorted(values, key=lambda value: _rank(name, value))
        held = max(1, len(ranked) // TEST_SHARE)
        self.test = tuple(ranked[:held])
        self.train = tuple(ranked[held:])

    def values(self, split: Split) -> tuple[T, ...]:
        if split in ("train", "undemonstrated"):
            return self.train
        if split in ("test", "undemonstrated_test"):
            return self.test
        if split == "held_out_apps" and self.reserved:
            return self.reserved
        return self.train + self.test

    def draw(self, rng: random.Random, split: Split) -> T:
        return rng.choice(self.values(split))


def _rank(name: str, value: object) -> bytes:
    return hashlib.blake2b(f"{name}/{value!r}".encode(), digest_size=8).digest()


def parameter(domain: Domain[T]) -> T:
    """Declare a template field whose value is drawn from a domain."""
    return cast("T", dataclasses.field(metadata={"domain": domain}))


def domain_of(field: dataclasses.Field[Any]) -> Domain[Any]:
    return cast("Domain[Any]", field.metadata["domain"])
