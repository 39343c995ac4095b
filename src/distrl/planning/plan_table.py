"""Plans and checks as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.table import Table

from distrl.planning.prediction import Prediction
from distrl.planning.purchase import Gain

Row = tuple[str, Callable[[Prediction], str]]
ROWS: tuple[Row, ...] = (
    ("GPUs that decide", lambda p: f"{p.policy_gpus:,}"),
    ("GPUs that learn", lambda p: f"{p.learner_gpus:,}"),
    ("[bold]trajectories / min[/]", lambda p: f"[bold]{_figure(p.trajectories_per_minute)}[/]"),
    ("decisions / s", lambda p: _figure(p.decisions_per_second)),
    ("mean batch", lambda p: _figure(p.mean_batch)),
    ("episode", lambda p: f"{_figure(p.episode_seconds)} s"),
    ("phones busy", lambda p: f"{p.device_busy:.1%}"),
    ("  wait for decisions", lambda p: f"{p.phone_time['decide']:.1%}"),
    ("  wait to be let start", lambda p: f"{p.phone_time['admission']:.1%}"),
    ("  wait to deliver", lambda p: f"{p.phone_time['deliver']:.1%}"),
    ("  wait for collectors", lambda p: f"{p.phone_time['own']:.1%}"),
    ("deciding GPUs busy", lambda p: f"{p.policy_busy:.1%}"),
    ("  of what they could do", lambda p: f"{p.policy_load:.1%}"),
    ("learner idle", lambda p: f"{p.learner_idle:.1%}" if p.learner_gpus else "–"),
    ("updates / min", lambda p: _figure(p.updates_per_minute)),
    ("draws per trajectory", lambda p: f"{p.samples_per_insert:.2f}"),
    ("staleness, mean", lambda p: f"{p.staleness.mean:.2f}"),
    ("  median · 95 % · most", lambda p: _spread(p)),
    ("  of what is drawn", lambda p: f"{p.staleness.learned:.1f}"),
    ("came too late", lambda p: f"{p.stale_share:.1%}"),
    ("to the learner", lambda p: f"{_figure(p.to_learner_megabits)} Mbit/s"),
    ("from the learner", lambda p: f"{_figure(p.from_learner_megabits)} Mbit/s"),
    ("weights at last node", lambda p: f"{_figure(p.broadcast_seconds)} s"),
    ("learner's memory", lambda p: f"{_figure(p.learner_gigabytes)} GB"),
    ("phone node's memory", lambda p: f"{_figure(p.node_gigabytes)} GB"),
)


def prediction_table(predictions: Sequence[Prediction]) -> Table:
    """A column for each system."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("phones", no_wrap=True)
    for prediction in predictions:
        table.add_column(f"{prediction.phones:,}", justify="right")
    for name, words in ROWS:
        table.add_row(name, *(words(each) for each in predictions))
    return table


def gain_table(gains: Sequence[Gain]) -> Table:
    """What a little more of each would bring."""
    table = Table("if there were", box=None, padding=(0, 3, 0, 0))
    table.add_column("trajectories / min", justify="right")
    table.add_column("updates / min", justify="right")
    for gain in gains:
        table.add_row(gain.offer.name, f"{gain.trajectories:+.1%}", f"{gain.updates:+.1%}")
    return table


def _spread(prediction: Prediction) -> str:
    spread = prediction.staleness
    return f"{spread.median:.0f} · {spread.high:.0f} · {spread.most}"


def _figure(number: float) -> str:
    if number >= 100.0:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10.0 else f"{number:.2f}"
