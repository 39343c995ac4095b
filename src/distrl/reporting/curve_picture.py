"""The learning curve of `distrl imitate` as a picture: accuracy of actions, and losses.

The left plot has the validation accuracy (tasks of the test split), over all samples and by the
first word of the answer, and the accuracy on each training batch. The right plot has moving means
of the losses, on a logarithmic axis.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from distrl.imitation.imitation import Progress
from distrl.reporting.charts import moving_mean

WIDTH, HEIGHT, DPI = 1120, 460, 100  # pixels
FAINT, VALIDATION = "#9db4dd", "#2563c9"
COLORS = ("#d9730d", "#178a4c", "#8a63c9", "#b3487b")
WORDS = ("<tap>", "<type>", "<answer>", "<swipe>")  # the others are learned early
SMOOTHED_SHARE = 0.04  # window of the moving mean, as a share of the curve


def draw_curve(curve: Sequence[Progress]) -> Figure:
    """Draw both plots; a curve without points gives plots without lines."""
    figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI, layout="constrained")
    shares, losses = figure.subplots(1, 2, width_ratios=(2, 1))
    _draw_shares(shares, curve)
    _draw_losses(losses, curve)
    for axes in (shares, losses):
        axes.set_xlabel("steps")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, axis="y", alpha=0.4)
        if axes.lines:
            axes.legend(frameon=False)
    return figure


def _draw_shares(axes: Axes, curve: Sequence[Progress]) -> None:
    axes.set_title("Right actions", loc="left")
    axes.set_ylim(0.0, 1.0)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    if curve:
        steps = [point.step for point in curve]
        axes.plot(steps, [p.right_actions for p in curve], color=FAINT, lw=0.8, label="batches")
    validated = [point for point in curve if point.validation is not None]
    for word, color in zip(WORDS, COLORS, strict=True):
        spots = [(p.step, p.by_word[word]) for p in validated if word in p.by_word]
        if spots:
            axes.plot(*zip(*spots, strict=True), color=color, lw=1.3, label=word.strip("<>"))
    if validated:
        steps = [point.step for point in validated]
        shares = [point.validation or 0.0 for point in validated]
        last = f"validation {shares[-1]:.0%}"
        axes.plot(steps, shares, color=VALIDATION, lw=2.5, marker="o", ms=5, label=last)


def _draw_losses(axes: Axes, curve: Sequence[Progress]) -> None:
    axes.set_title("Losses", loc="left")
    axes.set_yscale("log")
    steps = [point.step for point in curve]
    for name, color, values in (
        ("acting", VALIDATION, [point.action_loss for point in curve]),
        ("reading", COLORS[0], [point.reading_loss for point in curve]),
    ):
        if any(value > 0.0 for value in values):  # a frozen encoder has no reading loss
            axes.plot(steps, moving_mean(values, SMOOTHED_SHARE), color=color, lw=1.3, label=name)
