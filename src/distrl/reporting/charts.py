"""The charts of the report, as matplotlib figures and as SVG that follows the page's colours.

Figures are drawn in stand-in colours; `to_svg` replaces each by a CSS variable of the page, so that
one drawing suits the light and the dark style. Text stays text (in the page's font).
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, cycle

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

from distrl.records import Ending
from distrl.reporting.run_story import RunStory
from distrl.runs.run_records import EpisodeLine

WIDE, HALF, NARROW, SMALL = 1000, 480, 350, 310  # pixels
CSS_VARIABLES = {
    "#0a0001": "var(--first)",
    "#0a0002": "var(--second)",
    "#0a0003": "var(--muted)",
    "#0a0004": "var(--rule)",
    "#0a0005": "var(--bad)",
    "#0a0006": "var(--good)",
}
FIRST, SECOND, MUTED, RULE, BAD, GOOD = CSS_VARIABLES
BUSY = to_rgb("#5b8def")
ENDING_COLORS = {
    Ending.SUCCESS: GOOD,
    Ending.FAILURE: "#8a93a3",
    Ending.STEP_LIMIT: "#b9c0cb",
    Ending.GAVE_UP: "#d8c08a",
    Ending.APP_CRASH: "#e39a52",
    Ending.DEVICE_LOST: BAD,
    Ending.JUDGE_UNAVAILABLE: "#a97bd1",
    Ending.AWAITING_VERDICT: "#c9b6de",
    Ending.DRY_RUN: "#dfe3e8",
}
LINE_STYLES = ("--", ":", "-.")  # of environments
MAX_DEVICES = 40  # rows of the timeline
SPANS = 160  # columns of the timeline
MAX_POINTS = 300  # of a small chart
SMOOTHED_SHARE = 0.08  # window of the moving mean, as a share of a small chart


def success_curve(story: RunStory, width: int) -> Figure | None:
    """Success of training episodes with its band, and evaluations with their intervals."""
    curve = story.success_curve()
    evaluations = [each for each in story.evaluations if each.rate.episodes]
    if not curve and not evaluations:
        return None
    figure, axes = _new(width, 320 if width > NARROW else 240)
    unit, seconds = time_unit(story.seconds)
    at = [moment / seconds for moment, _ in curve]
    low, high = ([rate.interval[end] for _, rate in curve] for end in (0, 1))
    axes.fill_between(at, low, high, color=FIRST, alpha=0.15, linewidth=0)
    axes.plot(at, [rate.rate for _, rate in curve], color=FIRST, linewidth=2, label="training")
    for name, style in zip(story.environments, cycle(LINE_STYLES)):
        own = story.success_curve(partial(_is_in, name))
        axes.plot(
            [moment / seconds for moment, _ in own],
            [rate.rate for _, rate in own],
            color=MUTED,
            linewidth=1.5,
            linestyle=style,
            label=name,
        )
    for place, each in enumerate(evaluations):
        bottom, top = each.rate.interval
        axes.errorbar(
            each.seconds / seconds,
            each.rate.rate,
            [[each.rate.rate - bottom], [top - each.rate.rate]],
            fmt="o",
            markersize=8,
            color=SECOND,
            label="" if place else "evaluation",
        )
    axes.set(xlim=(0, story.seconds / seconds or 1), ylim=(0, 1), xlabel=unit)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    _legend(axes)
    return figure


def _is_in(environment: str, episode: EpisodeLine) -> bool:
    return episode.environment == environment


def device_timeline(story: RunStory, width: int) -> Figure | None:
    """A row per device, shaded by the share of each time span that it spent in episodes."""
    devices = story.devices[:MAX_DEVICES]
    if not devices:
        return None
    row = 22 if len(devices) <= 12 else 12
    figure, axes = _new(width, len(devices) * row + 46)
    unit, seconds = time_unit(story.seconds)
    busy = np.array([story.busy(device, SPANS) for device in devices])  # [devices, spans]
    pixels = np.dstack([np.broadcast_to(BUSY, (*busy.shape, 3)), 0.08 + 0.92 * busy])
    end = story.seconds / seconds
    axes.imshow(pixels, aspect="auto", interpolation="nearest", extent=(0, end, len(devices), 0))
    for number, device in enumerate(devices):
        axes.axhline(number, color=RULE, linewidth=2)
        lost = [e.ended / seconds for e in story.episodes if e.device == device and not e.judged]
        axes.plot(lost, [number + 0.5] * len(lost), "|", color=BAD, markersize=row - 6)
    if row > 12:
        axes.set_yticks(np.arange(len(devices)) + 0.5, [device[-9:] for device in devices])
    else:
        axes.set_yticks([])
    axes.grid(visible=False)
    axes.set(xlim=(0, end), ylim=(len(devices), 0), xlabel=unit)
    return figure


def lag_histogram(story: RunStory, width: int) -> Figure | None:
    """Histogram of the lag of trajectories at arrival, in weight versions, as shares."""
    counts = story.lags()
    if not counts or not story.episodes:
        return None
    figure, axes = _new(width, 240)
    total = sum(counts.values())
    axes.bar(range(len(counts)), [count / total for count in counts.values()], color=FIRST)
    axes.set_xticks(range(len(counts)), list(counts))
    axes.set(xlabel="versions behind the learner at arrival")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    return figure


def endings(story: RunStory, width: int) -> Figure | None:
    """Stacked bars: the shares of each ending among the episodes of a time span."""
    if not story.episodes:
        return None
    figure, axes = _new(width, 240)
    spans = story.endings(24 if width > NARROW else 12)
    unit, seconds = time_unit(story.seconds)
    step = story.seconds / seconds / len(spans)
    left = [place * step for place in range(len(spans))]
    totals = [max(1, sum(span.values())) for span in spans]
    below = np.zeros(len(spans))
    for ending in Ending:
        shares = np.array([s[ending.value] / n for s, n in zip(spans, totals, strict=True)])
        if shares.any():
            name = ending.value.replace("_", " ")
            axes.bar(
                left, shares, step * 0.9, below, align="edge", color=ENDING_COLORS[ending],
                label=name,
            )  # fmt: skip
        below += shares
    axes.set(ylim=(0, 1), xlabel=unit)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    _legend(axes)
    return figure


def metric(updates: Sequence[float], figures: Sequence[float]) -> Figure | None:
    """One metric over the updates: raw in pale, its moving mean in dark; None: too few points."""
    known = [(x, y) for x, y in zip(updates, figures, strict=True) if math.isfinite(y)]
    if len(known) < 2:
        return None
    figure, axes = _new(SMALL, 96)
    at, values = zip(*known, strict=True)
    low, high = _without_outliers(values)
    every = -(-len(at) // MAX_POINTS)
    axes.plot(at[::every], np.clip(values, low, high)[::every], color=FIRST, alpha=0.3, linewidth=1)
    axes.plot(at[::every], np.clip(moving_mean(values), low, high)[::every], color=FIRST)
    axes.set(ylim=(low, high), yticks=(low, high), xticks=(at[0], at[-1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    return figure


def moving_mean(values: Sequence[float], share: float = SMOOTHED_SHARE) -> list[float]:
    """Return the mean of the window around each value; near an end the window is cut off."""
    reach, count = round(share * len(values) / 2), len(values)
    sums = [0.0, *accumulate(values)]
    windows = [(max(0, at - reach), min(count, at + reach + 1)) for at in range(count)]
    return [(sums[end] - sums[start]) / (end - start) for start, end in windows]


def _without_outliers(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of the values without the outermost 1 % at either end."""
    ranked = sorted(values)
    rare = len(ranked) // 100
    low, high = ranked[rare], ranked[-1 - rare]
    return (low, high) if high > low else (low - 0.5 * abs(low or 1.0), low + 0.5 * abs(low or 1.0))


def time_unit(total_seconds: float) -> tuple[str, float]:
    """Return a unit that gives a time axis small numbers, and its length in seconds."""
    if total_seconds < 120.0:
        return "seconds", 1.0
    return ("minutes", 60.0) if total_seconds < 4 * 3600.0 else ("hours", 3600.0)


def short(value: float) -> str:
    """Format a number in few characters: 12k, 0.03, 1.5e−05."""
    size = abs(value)
    if size >= 10_000:
        text = f"{value / 1000:.3g}k" if size < 1e6 else f"{value / 1e6:.3g}M"
    elif size >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.3g}" if size >= 0.001 or value == 0.0 else f"{value:.1e}"
    return text.replace("-", "−")


def in_two_sizes(draw: Callable[[int], Figure | None], wide: int = WIDE) -> Markup | None:
    """A drawing for desktops and one for phones; the style sheet shows the one that fits."""
    large, small = draw(wide), draw(NARROW)
    if large is None or small is None:
        return None
    shown = Markup('<div class="wide">{}</div><div class="narrow">{}</div>')
    return shown.format(to_svg(large), to_svg(small))


def to_svg(figure: Figure) -> Markup:
    """Return inline SVG: no prolog, no metadata, the page's colours."""
    written = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "distrl"}):
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    svg = written.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    for stand_in, variable in CSS_VARIABLES.items():
        svg = svg.replace(stand_in, variable)
    return Markup(svg)  # texts in it were escaped by matplotlib


def _new(width: int, height: int) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    axes.tick_params(colors=MUTED, length=0, labelsize=11)
    axes.xaxis.label.set(color=MUTED, size=11)
    axes.xaxis.set_major_locator(MaxNLocator(max(5, width // 90)))
    for side in axes.spines.values():
        side.set_visible(False)
    return figure, axes


def _legend(axes: Axes) -> None:
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False, labelcolor=MUTED,
        fontsize=11,
    )  # fmt: skip
