"""Answers are read strictly enough that guessing everything does not pass."""

import pytest

from distrl.tasks.answers import mentions, states_number


@pytest.mark.parametrize(
    ("answer", "expected", "right"),
    [
        ("12:30", "12:30", True),
        ("It is at 12:30.", "12:30", True),
        ("anna larsen", "Anna Larsen", True),
        ("Larsen Anna", "Anna Larsen", False),
        ("Joanna", "Anna", False),
        ("", "Anna", False),
        (None, "Anna", False),
        ("Anna " * 20, "Anna", False),
    ],
)
def test_mentions(answer: str | None, expected: str, right: bool) -> None:
    assert mentions(answer, expected) is right


def test_naming_the_other_candidates_as_well_does_not_count() -> None:
    assert mentions("Lima", "Lima", ["Oslo", "Rome"])
    assert not mentions("Lima or Oslo", "Lima", ["Oslo", "Rome"])
    assert mentions("New York City", "New York City", ["New York"])


@pytest.mark.parametrize(
    ("answer", "right"),
    [("42", True), ("It costs 42.00", True), ("1,042", False), ("41 or 42", False), ("no", False)],
)
def test_states_number(answer: str, right: bool) -> None:
    assert states_number(answer, 42.0) is right
