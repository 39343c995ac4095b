"""Days in words, and answers that give them."""

from __future__ import annotations

from datetime import date

import pytest

from phonesim.tasks.general.days import SaidDay, ordinal, pick, states_date
from phonesim.tasks.moves import Press

FRIDAY = date(2026, 1, 30)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (SaidDay("tomorrow", days=1), date(2026, 1, 31)),
        (SaidDay("the coming Friday", weekday=4), date(2026, 2, 6)),
        (SaidDay("the coming Saturday", weekday=5), date(2026, 1, 31)),
        (SaidDay("the 3rd of next month", day_of_next_month=3), date(2026, 2, 3)),
    ],
)
def test_a_said_day_is_a_certain_one(said: SaidDay, meant: date) -> None:
    assert said.after(FRIDAY) == meant


@pytest.mark.parametrize(
    "answer",
    [
        "14 March",
        "March 14th",
        "On Saturday, 14 March 2026, at 10:30",
        "2026-03-14",
        "14 Mar.",
        'It is on the "14th of March"',
        "14.03.2026",
        "3/14",
        "14. März",
        "el sábado 14 de marzo",
        "3月14日",
    ],
)
def test_a_date_may_be_given_in_several_ways(answer: str) -> None:
    assert states_date(answer, date(2026, 3, 14))


@pytest.mark.parametrize(
    "answer", [None, "", "14", "March", "14 May", "13 or 14 March", "4 March", "4/14"]
)
def test_another_date_or_two_or_none_is_no_answer(answer: str | None) -> None:
    assert not states_date(answer, date(2026, 3, 14))


def test_the_grid_is_turned_as_often_as_needed() -> None:
    assert list(pick(date(2026, 2, 3), FRIDAY)) == [Press("Next month"), Press("3", role="day")]
    assert next(pick(date(2025, 12, 3), FRIDAY)) == Press("Previous month")


@pytest.mark.parametrize(("number", "words"), [(1, "1st"), (12, "12th"), (22, "22nd"), (3, "3rd")])
def test_ordinals(number: int, words: str) -> None:
    assert ordinal(number) == words
