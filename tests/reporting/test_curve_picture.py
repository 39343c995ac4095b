"""The picture of a learning curve shows what was measured."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageColor

from distrl.agent.loading import STARTER_DIRECTORY
from distrl.errors import DistrlError
from distrl.imitation.imitation import Progress
from distrl.reporting.curve_picture import EXAM, HEIGHT, PANELS, WIDTH, draw_curve, read_curve

CURVE = [
    Progress(
        step,
        step / 10,
        step * 9,
        20.0 / step,
        10.0 / step,
        0.9,
        0.5,
        validation=step / 1000,
        by_word={"<tap>": step / 1000, "<type>": 0.1},
    )
    for step in range(100, 1001, 100)
]


def colored(picture: Image.Image, color: str) -> NDArray[np.bool_]:
    pixels = np.asarray(picture).astype(int)
    return np.asarray(np.abs(pixels - ImageColor.getrgb(color)).sum(-1) < 30)


def test_a_better_exam_stands_higher() -> None:
    left, right = PANELS[0]
    blue = colored(draw_curve(CURVE), EXAM)
    early, late = (
        np.argwhere(blue[:, x - 8 : x + 8])[:, 0].mean() for x in (left + 60, right - 60)
    )
    assert late < early - 100  # pixels are counted from the top
    flat = [dataclasses.replace(point, validation=0.5) for point in CURVE]
    blue = colored(draw_curve(flat), EXAM)
    early, late = (
        np.argwhere(blue[:, x - 8 : x + 8])[:, 0].mean() for x in (left + 100, right - 60)
    )
    assert late == pytest.approx(early, abs=2)


def test_short_curves_are_drawn_too() -> None:
    for curve in (
        [],
        CURVE[:1],
        CURVE[:2],
        [dataclasses.replace(CURVE[0], validation=None, by_word={})],
    ):
        assert draw_curve(curve).size == (WIDTH, HEIGHT)
    zero = [dataclasses.replace(point, action_loss=0.0, reading_loss=0.0) for point in CURVE]
    assert draw_curve(zero).size == (WIDTH, HEIGHT)


def test_the_shipped_curve_can_be_read_and_drawn() -> None:
    curve = read_curve(STARTER_DIRECTORY / "curve.json")
    assert curve[-1].step > 10_000
    exams = [point.validation for point in curve if point.validation is not None]
    assert exams[-1] > 0.9
    assert draw_curve(curve).size == (WIDTH, HEIGHT)


@pytest.mark.parametrize("content", ["[{", '[{"step": "many"}]', "[{}]", "\udcff"])
def test_what_is_no_curve_is_one_clear_error(content: str, tmp_path: Path) -> None:
    file = tmp_path / "curve.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(DistrlError):
        read_curve(file)
    with pytest.raises(DistrlError, match="no learning curve"):
        read_curve(tmp_path / "none.json")
