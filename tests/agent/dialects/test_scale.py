"""Places, counted in the units of a dialect."""

from __future__ import annotations

import pytest

from distrl.agent.dialects.dialect import ImageSize, Scale
from distrl.agent.dialects.loose_reader import Number, Value
from distrl.errors import InvalidAction

THOUSAND = Scale(1000, 1000)
TO_999 = Scale(999, 999, to_edge=True)


def _place(*numbers: str) -> Value:
    return [Number(number) for number in numbers]


def test_999_and_1000_are_not_the_same() -> None:
    """The far edge is 999 in one and out of bounds in the other."""
    assert TO_999.write(1.0, 0.5) == (999, 500)
    assert THOUSAND.write(1.0, 0.5) == (999, 500)
    assert TO_999.read(_place("999", "0"), "point") == (1.0, 0.0)
    assert THOUSAND.read(_place("999", "0"), "point") == (0.999, 0.0)


def test_one_unit_beyond_the_edge_is_the_edge() -> None:
    assert TO_999.read(_place("1000", "1000"), "point") == (1.0, 1.0)
    with pytest.raises(
        InvalidAction, match="y of point is 1001, off a screen that counts 0 to 999"
    ):
        TO_999.read(_place("1000", "1001"), "point")
    with pytest.raises(InvalidAction, match="x of point is -1,"):
        TO_999.read(_place("-1", "0"), "point")


def test_every_unit_is_written_as_it_was_read() -> None:
    for scale in (THOUSAND, TO_999, Scale.of_pixels(ImageSize(1092, 2408))):
        for unit in range(scale.across):
            x, y = scale.read(_place(str(unit), str(unit)), "point")
            assert scale.write(x, y) == (unit, unit)


def test_a_picture_of_nothing_has_one_pixel() -> None:
    assert Scale.of_pixels(ImageSize(0, 0)).write(0.7, 0.7) == (0, 0)


@pytest.mark.parametrize(
    "value",
    [
        _place("200", "600"),
        _place("100", "500", "300", "700"),
        [_place("100", "500"), _place("300", "700")],
        "200,600",
        "(200, 600)",
        "<|box_start|>(100,500),(300,700)<|box_end|>",
        "<point>200 600</point>",
        {"x": Number("200"), "y": "600"},
        ["200", Number("600.0")],
    ],
)
def test_ways_to_write_a_place(value: Value) -> None:
    assert THOUSAND.read(value, "point") == pytest.approx((0.2, 0.6))


@pytest.mark.parametrize(
    "value",
    [
        None, True, "", "here", "200", "200 px, 600 px", "1 2 3", [], [None, None], [[], "1 2"],
        {"x": Number("1")}, {}, _place("1", "2", "3"), [True, False], "0x10, 3", "١, ٢",
    ],
)  # fmt: skip
def test_what_is_no_place(value: Value) -> None:
    with pytest.raises(InvalidAction, match="point is no place such as"):
        THOUSAND.read(value, "point")


def test_shares_are_not_taken_for_the_corner() -> None:
    with pytest.raises(InvalidAction, match="shares of the screen"):
        THOUSAND.read(_place("0.46", "1.0"), "point")
    assert THOUSAND.read(_place("1", "1"), "point") == (0.001, 0.001)
