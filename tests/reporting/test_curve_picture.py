"""The picture of a learning curve shows what was measured."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import ImageColor

from distrl.agent.loading import STARTER_DIRECTORY
from distrl.imitation.imitation import Progress
from distrl.reporting.curve_picture import HEIGHT, VALIDATION, WIDTH, draw_curve

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


def drawn(figure: Figure) -> NDArray[np.int64]:  # [height, width, 3]
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(np.int64)


def pixels(curve: list[Progress]) -> NDArray[np.int64]:
    return drawn(draw_curve(curve))


def height_at(curve: list[Progress], share: float) -> float:
    """How far down the line of the validation is, at a share of the left panel's width."""
    figure = draw_curve(curve)
    blue = np.abs(drawn(figure) - ImageColor.getrgb(VALIDATION)).sum(-1) < 30
    box = figure.axes[0].get_window_extent()
    x = int(box.x0 + share * box.width)
    return float(np.argwhere(blue[:, x - 8 : x + 8])[:, 0].mean())


def test_a_better_validation_is_higher() -> None:
    assert height_at(CURVE, 0.85) < height_at(CURVE, 0.2) - 100  # pixels count from the top
    flat = [dataclasses.replace(point, validation=0.5) for point in CURVE]
    assert height_at(flat, 0.85) == pytest.approx(height_at(flat, 0.2), abs=2)


def test_every_figure_of_the_curve_has_a_line() -> None:
    shares, losses = draw_curve(CURVE).axes
    names = [str(line.get_label()) for line in shares.lines]
    assert names == ["batches", "tap", "type", "validation 100%"]
    assert [str(line.get_label()) for line in losses.lines] == ["acting", "reading"]


def test_short_curves_are_drawn_too() -> None:
    for curve in (
        [],
        CURVE[:1],
        CURVE[:2],
        [dataclasses.replace(CURVE[0], validation=None, by_word={})],
    ):
        assert pixels(curve).shape == (HEIGHT, WIDTH, 3)
    zero = [dataclasses.replace(point, action_loss=0.0, reading_loss=0.0) for point in CURVE]
    assert pixels(zero).shape == (HEIGHT, WIDTH, 3)


def test_the_shipped_curve_can_be_read_and_drawn() -> None:
    saved = (STARTER_DIRECTORY / "curve.json").read_bytes()
    curve = msgspec.json.decode(saved, type=list[Progress])
    assert curve[-1].step > 10_000
    validations = [point.validation for point in curve if point.validation is not None]
    assert validations[-1] > 0.9
    assert pixels(curve).shape == (HEIGHT, WIDTH, 3)
