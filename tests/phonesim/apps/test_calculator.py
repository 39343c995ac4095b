"""The app Calculator, by its keys, and the arithmetic behind it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.phonesim.conftest import Use

from distrl.records import OpenApp
from phonesim.apps.arithmetic import NotAnExpression, evaluate, shown
from phonesim.apps.calculator import Calculation
from phonesim.phone import Phone
from phonesim.tasks.moves import Hold, Press


def key_in(use: Use, keys: str) -> None:
    use(*(Press(key, role="button") for key in keys))


def readout(phone: Phone, part: str = "Display") -> str:
    return next((e.text for e in phone.elements() if e.detail == part), "")


@pytest.fixture
def phone(phone: Phone) -> Phone:
    phone.perform(OpenApp("Calculator"))
    return phone


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2+3×4", "14"),
        ("(2+3)×4", "20"),
        ("10−2−3", "5"),
        ("100÷8÷5", "2.5"),
        ("0.1+0.2", "0.3"),
        ("1÷3", "0.3333333333"),
        ("2÷3", "0.6666666667"),
        ("1÷3×3", "1"),
        ("−5+2", "−3"),
        ("2×−3", "−6"),
        ("15%×80", "12"),
        ("50%%", "0.005"),
        ("2(3+4)", "14"),
        ("(1+1)(2+2)", "8"),
        (".5+5.", "5.5"),
        ("−0", "0"),
        ("1÷99999999999", "0"),
    ],
)
def test_arithmetic(text: str, value: str) -> None:
    assert shown(evaluate(text)) == value


@pytest.mark.parametrize("text", ["", "+", "2+", "(2", "2)", "1.2.3", ".", "()", "×3", "(" * 99])
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(NotAnExpression):
        evaluate(text)


@given(st.lists(st.tuples(st.sampled_from("+−×"), st.integers(0, 999)), min_size=1, max_size=6))
def test_as_exact_as_whole_numbers(steps: list[tuple[str, int]]) -> None:
    text = "7" + "".join(f"{operator}{number}" for operator, number in steps)
    terms: list[Fraction] = [Fraction(7)]
    for operator, number in steps:
        if operator == "×":
            terms[-1] *= number
        else:
            terms.append(Fraction(number if operator == "+" else -number))
    assert evaluate(text) == sum(terms)


def test_keys_show_a_preview_and_then_the_result(phone: Phone, use: Use) -> None:
    key_in(use, "12×(3+4)")
    assert (readout(phone), readout(phone, "Result")) == ("12×(3+4)", "84")
    key_in(use, "=")
    assert (readout(phone), readout(phone, "Result")) == ("84", "")


def test_an_operator_goes_on_from_the_result_and_a_digit_starts_anew(
    phone: Phone, use: Use
) -> None:
    key_in(use, "6×7=÷2=")
    assert readout(phone) == "21"
    key_in(use, "5")
    assert readout(phone) == "5"


def test_mistakes_are_mended(phone: Phone, use: Use) -> None:
    key_in(use, "12+−5⌫")
    assert readout(phone) == "12−"
    key_in(use, "C")
    assert readout(phone) == "0"


def test_division_by_zero_is_said_and_kept_out_of_the_history(phone: Phone, use: Use) -> None:
    key_in(use, "8÷0=")
    assert readout(phone, "Result") == "Cannot divide by 0"
    assert phone.facts.all(Calculation) == ()
    key_in(use, "⌫4=")
    assert readout(phone) == "2"


def test_the_history_gives_results_back(phone: Phone, use: Use) -> None:
    key_in(use, "6×7=")
    key_in(use, "1+1=")
    use(Press("History"), Press("6×7"))
    assert readout(phone) == "42"
    use(Press("History"), Hold("1+1"), Press("Delete"))
    assert [line.expression for line in phone.facts.all(Calculation)] == ["6×7"]
    use(Press("Clear history"), Press("Clear"))
    assert phone.facts.all(Calculation) == ()
