"""Quantities, dates and lists mean the same however they are written; guessing does not pass."""

from __future__ import annotations

from datetime import date

import pytest

from phonesim.tasks.structured_answers import states_date, states_list, states_quantity

DAY = date(2026, 3, 5)  # a Thursday


@pytest.mark.parametrize(
    "answer",
    [
        "3,5 km", "3.5 kilometres", "3500 m", "3,500 m", "It is 3.5 km away.", "3 500 metres",
        "3.5", "3 km 500 m", "350000 cm",
    ],
)  # fmt: skip
def test_a_length_is_the_same_in_every_unit(answer: str) -> None:
    assert states_quantity(answer, 3.5, "km")


@pytest.mark.parametrize(
    "answer",
    [None, "", "35 km", "3.5 miles", "3.5 kg", "3.5 or 4 km", "3.5 km 2 km", "three", "3.5 " * 30],
)
def test_another_length_is_not(answer: str | None) -> None:
    assert not states_quantity(answer, 3.5, "km")


def test_parts_are_added_and_money_is_money() -> None:
    assert states_quantity("1 h 15 min", 75, "min")
    assert states_quantity("75 minutes", 75, "min")
    assert states_quantity("1.25 hours", 75, "min")
    assert not states_quantity("15 min 1 h", 75, "min")
    assert states_quantity("€12,50", 12.5, "€")
    assert states_quantity("12.50 euros", 12.5, "€")
    assert states_quantity("1.234,50 €", 1234.5, "€")
    assert states_quantity("1,234.50 EUR", 1234.5, "€")
    assert not states_quantity("$12.50", 12.5, "€")
    assert states_quantity("five minutes", 5, "min")
    assert states_quantity("about 13 °C", 12.6, "°c", within=0.5)
    assert states_quantity("-4 degrees", -4, "°c")


@pytest.mark.parametrize(
    "answer",
    [
        "2026-03-05", "5.3.2026", "5/3/2026", "3/5/2026", "5 March", "5th of March 2026",
        "March 5, 2026", "on Mar 5th", "5. März", "5 de marzo de 2026", "05.03.26",
        "Thursday, 5 March", "next Thursday",
    ],
)  # fmt: skip
def test_a_date_is_the_same_in_every_form(answer: str) -> None:
    assert states_date(answer, DAY, today=date(2026, 3, 1))


@pytest.mark.parametrize(
    "answer",
    [None, "", "March", "6 March", "5 March 2025", "5 or 6 March", "Friday", "30.2.2026",
     "5 March, or 6 March", "tomorrow"],
)  # fmt: skip
def test_another_date_is_not(answer: str | None) -> None:
    assert not states_date(answer, DAY, today=date(2026, 3, 1))


def test_weekdays_need_to_know_today() -> None:
    assert not states_date("Thursday", DAY)
    assert states_date("tomorrow", DAY, today=date(2026, 3, 4))


def test_a_list_in_any_shape_and_its_order_where_it_matters() -> None:
    items = ("Milk", "Olive oil", "Bread")
    for answer in (
        "milk, olive oil and bread",
        "Bread; milk; olive oil.",
        "- Milk\n- Bread\n- Olive  oil",
        "You need:\n1. milk\n2. olive oil\n3. bread",
        "The list: milk, bread, olive oil",
    ):
        assert states_list(answer, items), answer
    assert not states_list("milk and bread", items)
    assert not states_list("milk, olive oil, bread and salt", items)
    assert not states_list("milk, milk, olive oil, bread", items)
    assert not states_list(None, items)
    assert states_list("milk, olive oil, bread", items, ordered=True)
    assert not states_list("bread, olive oil, milk", items, ordered=True)
