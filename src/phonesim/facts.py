"""The facts of a phone: tables of frozen records, one table per kind of record.

Apps read and write facts, judges compare them. Tables are copied on write, never changed in place,
so a copy of all facts takes about a microsecond and shares everything that has not changed since.
A record is a frozen dataclass whose first field is `id: int`; 0 means "not stored yet".
A kind with a single record (the system settings) is read by `one` and written by `change`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol, TypeVar, cast


class Record(Protocol):
    """A frozen dataclass with an `id`."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def id(self) -> int: ...


R = TypeVar("R", bound=Record)
Table = dict[int, Record]


class MissingFact(LookupError):
    """No record of that kind has that id; a page about it closes itself."""


class Facts:
    """The tables of one phone."""

    __slots__ = ("_tables", "next_id")

    def __init__(self, tables: dict[type[Any], Table] | None = None, next_id: int = 1) -> None:
        self._tables: dict[type[Any], Table] = {} if tables is None else tables
        self.next_id = next_id  # ids are never reused: an added record differs from a changed one

    def copy(self) -> Facts:
        """An independent copy. Tables are shared until one side writes."""
        return Facts(self._tables.copy(), self.next_id)

    def kinds(self) -> tuple[type[Any], ...]:
        return tuple(self._tables)

    def shares_table(self, other: Facts, kind: type[Any]) -> bool:
        """Return whether no records of this kind were written since one side copied the other."""
        return self._tables.get(kind) is other._tables.get(kind)

    def all(self, kind: type[R]) -> tuple[R, ...]:
        """Every record of a kind, in the order they were added."""
        return tuple(cast("dict[int, R]", self._tables.get(kind, {})).values())

    def where(self, kind: type[R], test: Callable[[R], bool]) -> tuple[R, ...]:
        return tuple(record for record in self.all(kind) if test(record))

    def find(self, kind: type[R], test: Callable[[R], bool]) -> R | None:
        return next((record for record in self.all(kind) if test(record)), None)

    def get(self, kind: type[R], record_id: int) -> R:
        try:
            return cast("R", self._tables[kind][record_id])
        except KeyError:
            raise MissingFact(f"no {kind.__name__} with id {record_id}") from None

    def one(self, kind: type[R]) -> R:
        """The only record of its kind."""
        for record in cast("dict[int, R]", self._tables.get(kind, {})).values():
            return record
        raise MissingFact(f"no {kind.__name__} on this phone")

    def add(self, record: R) -> R:
        """Store a new record; return the stored one, with its id."""
        kind = type(record)
        stored = dataclasses.replace(cast("Any", record), id=self.next_id)
        self.next_id += 1
        self._tables[kind] = {**self._tables.get(kind, {}), stored.id: stored}
        return cast("R", stored)

    def put(self, record: Record) -> None:
        """Store a changed record in place of the one with the same id."""
        kind = type(record)
        if record.id not in self._tables.get(kind, {}):
            raise MissingFact(f"no {kind.__name__} with id {record.id} to replace")
        self._tables[kind] = {**self._tables[kind], record.id: record}

    def edit(self, record: Record, **fields: Any) -> None:
        """Store a record with some fields changed."""
        self.put(dataclasses.replace(cast("Any", record), **fields))

    def change(self, kind: type[R], **fields: Any) -> None:
        """Change fields of the only record of its kind."""
        self.edit(self.one(kind), **fields)

    def remove(self, record: Record) -> None:
        kind = type(record)
        self._tables[kind] = {i: r for i, r in self._tables[kind].items() if i != record.id}

    def remove_where(self, kind: type[R], test: Callable[[R], bool]) -> None:
        self._tables[kind] = {r.id: r for r in self.all(kind) if not test(r)}

    def tables(self) -> Iterator[tuple[type[Any], tuple[Any, ...]]]:
        for kind, table in self._tables.items():
            yield kind, tuple(table.values())
