"""Answers are read strictly enough that guessing everything does not pass."""

from datetime import time

import pytest

from phonesim.tasks.answers import mentions, states_number, states_time
from phonesim.tasks.general.music_questions import states_length


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
        ("Anna " * 40, "Anna", False),
        ("Krakow", "Kraków", True),
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
    [
        ("42", True),
        ("It costs 42.00", True),
        ("42,00 $", True),
        ("1.042,00 $", False),
        ("$42", True),
        ("**42** dollars", True),
        ("1,042", False),
        ("41 or 42", False),
        ("41-42", False),
        ("-42", False),
        ("no", False),
        (None, False),
        ("42 " * 40, False),
    ],
)
def test_states_number(answer: str | None, right: bool) -> None:
    assert states_number(answer, 42.0) is right


def test_a_small_number_may_be_a_word_and_a_minus_a_dash() -> None:
    assert states_number("There are three of them", 3)
    assert not states_number("two or three", 3)
    assert states_number("−5°", -5)


def test_what_the_question_named_may_be_said_again() -> None:
    assert states_number("12 × 7 = 84", 84, ["12×7"])
    assert not states_number("12 × 7 = 85", 84, ["12×7"])
    assert states_number("The Tovik A9 Headphones cost $42.50", 42.5, ["Tovik A9 Headphones"])
    assert not states_number("The Tovik A9 Headphones", 42.5, ["Tovik A9 Headphones"])
    assert not states_number("42.50 or 43.50", 42.5, ["Tovik A9 Headphones"])


@pytest.mark.parametrize(
    "answer",
    ["14:30", "at 2:30 PM", "It starts at 2.30 p.m.", "14:30 h", "2:30", "half past two"],
)
def test_a_time_may_be_given_on_either_clock(answer: str) -> None:
    assert states_time(answer, time(14, 30))


@pytest.mark.parametrize("answer", ["9", "9:00", "09:00", "9 am", "nine o'clock", "It opens at 9"])
def test_a_full_hour_needs_no_minutes(answer: str) -> None:
    assert states_time(answer, time(9))


@pytest.mark.parametrize(
    "answer", [None, "", "02:30", "14:30 to 15:30", "2:30 AM", "14", "2 PM", "14:31", "1430"]
)
def test_another_time_or_two_or_none_is_no_answer(answer: str | None) -> None:
    assert not states_time(answer, time(14, 30))


@pytest.mark.parametrize(
    ("answer", "seconds", "right"),
    [
        ("3:05", 185, True),
        ("3 minutes and 5 seconds", 185, True),
        ("185 seconds", 185, True),
        ("3 minutes", 180, True),
        ("3:00", 180, True),
        ("3", 180, False),  # of what?
        ("3 minutes", 185, False),
        (None, 180, False),
    ],
)
def test_the_length_of_a_song(answer: str | None, seconds: int, right: bool) -> None:
    assert states_length(answer, seconds) is right
