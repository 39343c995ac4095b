"""A learning curve as a picture: what share of the actions was right, and how the losses fell.

Drawn with Pillow alone. On the left the exam (tasks of the test split), whole and by the word that
an answer begins with, over the share of each training batch; on the right the losses, each the mean
around a step, on a scale where every line is ten times the one below it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import font_roboto
from PIL import Image, ImageDraw, ImageFont

from distrl.config.typed_reader import read_record
from distrl.errors import UsageError
from distrl.imitation.imitation import Progress
from distrl.reporting.page.scale import Scale, short, ticks
from distrl.reporting.page.small_chart import smoothed

WIDTH, HEIGHT, SHARPNESS = 1120, 460, 2  # drawn twice as large, so that slanted lines are smooth
TOP, BOTTOM = 84, 56
PANELS = ((56, 620), (770, 1020))  # from left to right; names stand to the right of each
INK, MUTED, RULE = "#1c2026", "#667080", "#e3e6eb"
FAINT, EXAM = "#9db4dd", "#2563c9"
COLORS = ("#d9730d", "#178a4c", "#8a63c9", "#b3487b", "#5f6b7a")
WORDS = ("<tap>", "<type>", "<answer>", "<swipe>")  # the others are right from early on

Spots = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Line:
    """One figure over the steps."""

    name: str
    color: str
    spots: Spots
    width: float = 1.6
    dots: bool = False


def read_curve(file: Path) -> list[Progress]:
    """The curve that lies beside a model."""
    try:
        points = json.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UsageError(f"{file} is no learning curve: {error}") from error
    return [read_record(Progress, point, str(file)) for point in points]


def draw_curve(curve: Sequence[Progress]) -> Image.Image:
    """A curve without points gives a picture without lines."""
    picture = Image.new("RGB", (WIDTH * SHARPNESS, HEIGHT * SHARPNESS), "white")
    pen = _Pen(ImageDraw.Draw(picture))
    last = max((point.step for point in curve), default=1)
    up = Scale(0.0, 1.0, HEIGHT - BOTTOM, TOP)
    shares = _Panel("Right actions", PANELS[0], last, up, "{:.0%}".format)
    shares.draw(pen, [tenth / 10 for tenth in range(0, 11, 2)])
    shares.draw_lines(pen, list(_shares(curve)))
    losses = _loss_lines(curve)
    heights = [height for line in losses for _, height in line.spots]
    low, high = math.floor(min(heights, default=-1)), math.ceil(max(heights, default=1))
    up = Scale(low, high + (low == high), HEIGHT - BOTTOM, TOP)
    panel = _Panel("Losses", PANELS[1], last, up, lambda power: short(float(f"{10**power:.2g}")))
    panel.draw(pen, list(range(low, high + 1)))
    panel.draw_lines(pen, losses)
    return picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def _shares(curve: Sequence[Progress]) -> Iterator[Line]:
    yield Line("batches", FAINT, [(p.step, p.right_actions) for p in curve], width=1.0)
    exams = [point for point in curve if point.validation is not None]
    for word, color in zip(WORDS, COLORS, strict=False):
        spots = [(float(p.step), p.by_word[word]) for p in exams if word in p.by_word]
        yield Line(word.strip("<>"), color, spots)
    whole = [(float(p.step), p.validation) for p in exams if p.validation is not None]
    yield Line("exam", EXAM, whole, width=3.0, dots=True)


def _loss_lines(curve: Sequence[Progress]) -> list[Line]:
    def logs(figures: list[float]) -> Spots:
        calm = zip((point.step for point in curve), smoothed(figures), strict=True)
        return [(step, math.log10(figure)) for step, figure in calm if figure > 0.0]

    return [
        Line("acting", EXAM, logs([point.action_loss for point in curve])),
        Line("reading", COLORS[0], logs([point.reading_loss for point in curve])),
    ]


@dataclass(frozen=True, slots=True)
class _Panel:
    title: str
    across: tuple[int, int]
    last: int  # step
    up: Scale
    write: Callable[[float], str]

    @property
    def x(self) -> Scale:
        return Scale(0, self.last, *self.across)

    def draw(self, pen: _Pen, levels: Sequence[float]) -> None:
        left, right = self.across
        pen.text((left, 26), self.title, 19, INK, "la")
        for level in levels:
            y = self.up.at(level)
            pen.line([(left, y), (right, y)], RULE, 1)
            pen.text((left - 8, y), self.write(level), 13, MUTED, "rm")
        for step in ticks(0, self.last, max(2, (right - left) // 90)):
            pen.text((self.x.at(step), HEIGHT - BOTTOM + 10), short(step), 13, MUTED, "ma")
        pen.text(((left + right) / 2, HEIGHT - 22), "steps", 13, MUTED, "ma")

    def draw_lines(self, pen: _Pen, lines: list[Line]) -> None:
        for line in lines:
            spots = [(self.x.at(step), self.up.at(height)) for step, height in line.spots]
            pen.line(spots, line.color, line.width)
            for spot in spots if line.dots or len(spots) == 1 else ():
                pen.dot(spot, 3.5, line.color)
        named = [line for line in lines if line.spots]
        named.sort(key=lambda line: self.up.at(line.spots[-1][1]))
        y = -math.inf
        for line in named:
            y = max(y + 17, self.up.at(line.spots[-1][1]))
            text = f"{line.name} {self.write(line.spots[-1][1])}"
            pen.text((self.across[1] + 8, y), text, 14, line.color, "lm")


@dataclass(frozen=True, slots=True)
class _Pen:
    """Draws in the units of the picture."""

    draw_on: ImageDraw.ImageDraw

    def line(self, spots: Spots, color: str, width: float) -> None:
        if len(spots) > 1:
            scaled = [(x * SHARPNESS, y * SHARPNESS) for x, y in spots]
            self.draw_on.line(scaled, fill=color, width=round(width * SHARPNESS), joint="curve")

    def dot(self, spot: tuple[float, float], radius: float, color: str) -> None:
        x, y, r = (SHARPNESS * figure for figure in (*spot, radius))
        self.draw_on.ellipse((x - r, y - r, x + r, y + r), fill=color)

    def text(
        self, spot: tuple[float, float], text: str, size: int, color: str, anchor: str
    ) -> None:
        font = ImageFont.truetype(font_roboto.font_files["Roboto"], size * SHARPNESS)
        place = (spot[0] * SHARPNESS, spot[1] * SHARPNESS)
        self.draw_on.text(place, text, fill=color, font=font, anchor=anchor)
