"""Facts are copied in no time and never shared after a write."""

from dataclasses import dataclass

import pytest

from phonesim.facts import Facts, MissingFact


@dataclass(frozen=True, slots=True)
class Book:
    id: int = 0
    title: str = ""


def test_a_copy_is_independent_of_later_writes_on_either_side() -> None:
    facts = Facts()
    first = facts.add(Book(title="first"))
    copy = facts.copy()
    facts.edit(first, title="changed")
    copy.add(Book(title="second"))
    assert [book.title for book in facts.all(Book)] == ["changed"]
    assert [book.title for book in copy.all(Book)] == ["first", "second"]


def test_an_id_is_never_used_twice_even_after_a_removal() -> None:
    facts = Facts()
    old = facts.add(Book())
    facts.remove(old)
    assert facts.add(Book()).id > old.id


def test_a_missing_fact_says_which_one() -> None:
    facts = Facts()
    with pytest.raises(MissingFact, match="no Book with id 7"):
        facts.get(Book, 7)
    with pytest.raises(MissingFact, match="no Book with id 0"):
        facts.put(Book(title="never stored"))


def test_order_survives_an_edit() -> None:
    facts = Facts()
    books = [facts.add(Book(title=title)) for title in "abc"]
    facts.edit(books[1], title="B")
    assert [book.title for book in facts.all(Book)] == ["a", "B", "c"]
