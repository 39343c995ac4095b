"""`report.html`: one self-contained page about a run, for readers who did not follow it.

Everything is in the page (charts as SVG, screens as data URLs, one style sheet); it loads nothing
and has no scripts, so that it can be mailed, archived, and opened anywhere. It is made from the
files of the run directory alone (`run_records`), also while the run goes on or after a crash; a
section without data says so. `templates/report.html` has the page, `charts` the drawings.
"""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import distrl
from distrl.config.training_config import load_config
from distrl.episodes.outcome import SuccessRate, paired_gain
from distrl.errors import DistrlError
from distrl.records import Split, tasks_split
from distrl.reporting import charts
from distrl.reporting.live_view import duration, gain_words, time_words
from distrl.reporting.made_with import made_with
from distrl.reporting.recording_archive import picture_digest
from distrl.reporting.run_story import RunStory, read_story
from distrl.runs.run_account import RunAccount, waiting_share
from distrl.runs.run_directory import RunDirectory, evaluation_words, resume_words, write_whole
from distrl.runs.run_records import EvaluationLine, Series, Stage
from distrl.toml_file import loads_toml, read_bounded

UNFINISHED = (
    "There is no result.json here: the run goes on, was stopped, was on another machine, or the "
    "file was removed; going on writes it."
)
ROWS_SHOWN = 25  # templates of the table, before the rest is folded away
STAGES: dict[Stage, str] = {
    "before": "Before training",
    "during": "During training",
    "after": "After training",
}
METRICS: tuple[tuple[Series, str, str, str], ...] = (
    ("learner", "loss/policy", "policy loss", "as minimised, all terms"),
    ("learner", "loss/value", "value loss", "of the critic"),
    ("learner", "entropy", "entropy", "nats per token"),
    ("learner", "value/calibration_error", "calibration error", "of the critic; 0 is calibrated"),
    ("learner", "gradient_norm/policy", "gradient norm", "of the policy, before clipping"),
    ("learner", "ratio/effective_sample_size", "effective samples", "turns that count, by ratios"),
    ("learner", "ratio/clip_fraction", "clip fraction", "share of the ratios above 1"),
    ("learner", "ratio/q95", "ratio, 95th percentile", "of whole turns"),
    ("learner", "value/mean", "mean value", "of the screens drawn, by the critic"),
    ("learner", "invalid_rate", "unreadable answers", "share of the turns in a batch"),
    ("learner", "staleness/mean", "staleness drawn", "versions, mean of a batch"),
    ("learner", "samples_per_insert", "samples per insert", "draws for each trajectory so far"),
    ("learner", "seconds/update", "update time", "seconds in forward and backward passes"),
    ("learner", "replay/trajectories", "replay", "trajectories in it"),
    ("collection", "queue", "queue", "trajectories that wait for the learner"),
    ("collection", "machine/memory_left_gigabytes", "memory left", "gigabytes, learner's machine"),
    ("collection", "machine/learner_gigabytes", "the learner's memory", "gigabytes"),
    ("collection", "machine/gpu_memory_share", "GPU memory in use", "share of the learner's GPU"),
    ("collection", "machine/disk_free_gigabytes", "disk left", "gigabytes, where the run is"),
)


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """Success of one template, or of one environment, before and after training."""

    name: str
    before: SuccessRate
    after: SuccessRate
    template: str = ""  # to link to its episodes by

    @property
    def gain(self) -> float:
        known = self.before.episodes and self.after.episodes
        return self.after.rate - self.before.rate if known else 0.0


def write_report(run: RunDirectory) -> Path:
    """Write or replace the page, and return its path."""
    page = report_page(read_story(run))
    whole = page.encode("utf-8", "replace")  # a model's answer may have half of a surrogate pair
    write_whole(run.report, whole.decode("utf-8"))
    return run.report


def report_page(story: RunStory, page: str = "") -> str:
    """Render the page. `page`: the address of this run in a bundle of `distrl view`, to link to;
    empty for no link.
    """
    environment = Environment(
        loader=PackageLoader("distrl.reporting"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "percent": _percent,
        "percent_range": lambda interval: f"{interval[0]:.0%} to {interval[1]:.0%}",
        "points": lambda gain: f"{100 * gain:+.0f}".replace("-", "−"),
    }
    style = environment.get_template("report.css").render()
    before, after = story.evaluation("before"), story.evaluation("after")
    config, account = story.run.config, story.account
    settings = _settings_text(config)
    return environment.get_template("report.html").render(
        name=story.run.path.name,
        dry_run=story.dry_run,
        about=_about(settings),
        style=Markup(style),
        version=distrl.__version__,
        before=before,
        after=after,
        whole=TemplateRow("all of them", before.rate, after.rate) if before and after else None,
        environments=_environment_rows(before, after) if before and after else [],
        trained_on=bool(after and _tasks_of(after.split.split(", ")) & _played_splits(settings)),
        templates=_template_rows(before, after) if before and after else [],
        rows_shown=ROWS_SHOWN,
        lasted=duration(account.training_seconds or story.seconds),
        gain=_gain(before, after, account) if before and after else "",
        tiles=_tiles(story, account),
        phone_time=time_words(account.time.phones(), most=10),
        learner_time=time_words(account.time.learner(), most=10),
        losses=story.losses,
        failed=story.failed_devices(),
        refusals=Counter((each.action.partition("(")[0], each.why) for each in story.refusals),
        charts={
            "success": charts.in_two_sizes(lambda width: charts.success_curve(story, width)),
            "devices": charts.in_two_sizes(lambda width: charts.device_timeline(story, width)),
            "lag": charts.in_two_sizes(
                lambda width: charts.lag_histogram(story, width), charts.HALF
            ),
            "endings": charts.in_two_sizes(lambda width: charts.endings(story, width), charts.HALF),
        },
        metrics=list(_metrics(story)),
        stages=STAGES,
        recordings=story.recordings,
        data_url=lambda picture: _data_url(story.run.pictures / picture),
        commands=_commands(story.run),
        unfinished="" if story.run.result.exists() else UNFINISHED,
        settings=settings,
        made_with=made_with(story.run),
        episode_count=f"{len(story.episodes):,}",
        page=page,
    )


def _percent(share: float, digits: int = 0) -> str:
    return f"{share:.{digits}%}"


def _settings_text(config: Path) -> str:
    """Read the file as text, damaged or not; empty if unreadable, which is listed as a loss."""
    try:
        return read_bounded(config).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _about(settings: str) -> str:
    """Describe the run in one line by its settings; leave out what a damaged file lacks."""
    tree = _tree(settings)
    names = ("learning.algorithm", "agent.model", "run.seed")
    algorithm, model, seed = (_setting(tree, name) for name in names)
    parts = [
        "A training run of DistRL",
        algorithm,
        f"model {model}" if model else "",
        *_about_devices(tree),
        f"seed {seed}" if seed else "",
    ]
    return " · ".join(part for part in parts if part)


def _tree(settings: str) -> dict[str, Any]:
    """Parse the settings; empty if the file is damaged, which is listed as a loss."""
    try:
        return loads_toml(settings)
    except ValueError:
        return {}


def _environments(tree: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the settings of each environment by name; a run without any is one named ""."""
    named = tree.get("environments")
    found = named if isinstance(named, dict) and named else {"": tree}
    return {name: each if isinstance(each, dict) else {} for name, each in found.items()}


def _played_splits(settings: str) -> set[str]:
    """Return the splits that training played tasks of."""
    every = _environments(_tree(settings)).values()
    rehearsed = any(_setting(each, "tasks.rehearsal") not in ("", "0", "0.0") for each in every)
    played = _tasks_of(_setting(each, "tasks.split") for each in every)
    return played | ({"train"} if rehearsed else set())


def _tasks_of(splits: Iterable[str]) -> set[str]:
    """Return whose tasks these splits use (`tasks_split`); damaged settings may name any split."""
    return {tasks_split(cast("Split", each)) for each in splits}


def _about_devices(tree: dict[str, Any]) -> Iterator[str]:
    """Yield number and kind of the devices in each environment of the run."""
    for name, own in _environments(tree).items():
        count, kind = _setting(own, "devices.count"), _setting(own, "devices.kind")
        if count and kind:
            yield f"{name}: {count} {kind} devices" if name else f"{count} {kind} devices"


def _setting(tree: dict[str, Any], name: str) -> str:
    """Return a number or string as text; empty if there is none of that name."""
    section, _, key = name.partition(".")
    table = tree.get(section)
    value = table.get(key) if isinstance(table, dict) else None
    return str(value) if isinstance(value, str | int | float) else ""


def _environment_rows(before: EvaluationLine, after: EvaluationLine) -> list[TemplateRow]:
    """Return a row for each environment of a run that has several."""
    names = dict.fromkeys((*before.environments, *after.environments))
    return [
        TemplateRow(name, before.in_environment(name).rate, after.in_environment(name).rate)
        for name in names
    ]


def _template_rows(before: EvaluationLine, after: EvaluationLine) -> list[TemplateRow]:
    """Return a row for each template, those that gained most first."""
    old, new = (
        {(e.environment, e.template): SuccessRate(e.successes, e.episodes) for e in line.templates}
        for line in (before, after)
    )
    none = SuccessRate(0, 0)
    rows = [
        TemplateRow(
            f"{where} · {template}" if where else template,
            old.get((where, template), none),
            new.get((where, template), none),
            template,
        )
        for where, template in old | new
    ]
    return sorted(rows, key=lambda row: (-row.gain, row.name))


def _gain(before: EvaluationLine, after: EvaluationLine, account: RunAccount) -> str:
    gain = paired_gain(before.successes, after.successes)
    return gain_words(gain, weights_moved=account.weights_moved)


def _tiles(story: RunStory, account: RunAccount) -> dict[str, str]:
    """Return the run's headline numbers by their labels."""
    count, seconds = len(story.episodes), story.seconds
    if not count or not seconds:
        return {}
    updates = max((point.updates for point in story.points), default=0)
    return {
        "trajectories": f"{count:,}",
        "a minute": charts.short(60.0 * count / seconds),
        "devices": f"{len(story.devices)}",
        "of their time kept from playing": f"{waiting_share(account.time.phones()):.1%}",
        "versions old when drawn, on average": f"{account.staleness:.1f}",
        "of the turns effective": f"{account.effective_sample_share:.0%}",
        "updates": f"{updates:,}",
        "of training": duration(account.training_seconds or seconds),
        "broken by the world": str(sum(not episode.judged for episode in story.episodes)),
        **{f"trajectories of {name}": f"{n:,}" for name, n in _counts(story).items()},
    }


def _counts(story: RunStory) -> dict[str, int]:
    """Trajectories of each environment of a run that has several."""
    counts = Counter(episode.environment for episode in story.episodes)
    return {name: counts[name] for name in story.environments}


def _metrics(story: RunStory) -> Iterator[dict[str, str | Markup | None]]:
    """Yield each metric of `METRICS` that was recorded, with its last value and its chart."""
    for series, key, name, explained in METRICS:
        updates, figures = story.course(series, key)
        if figures:
            known = [figure for figure in figures if math.isfinite(figure)]
            last = charts.short(known[-1]) if known else "–"
            drawn = charts.metric(updates, figures)
            svg = charts.to_svg(drawn) if drawn else None
            yield {"name": name, "explained": explained, "last": last, "drawn": svg}


def _data_url(picture: Path) -> str | None:
    """Return the picture as a data URL; None if it is gone or does not match its digest."""
    content = picture.read_bytes() if picture.is_file() else b""
    if picture_digest(content) != picture.stem:
        return None
    encoded = base64.b64encode(content).decode("ascii")
    return f"data:image/{picture.suffix.removeprefix('.')};base64,{encoded}"


def _commands(run: RunDirectory) -> list[str]:
    """Return commands to evaluate and resume the run; none if its settings cannot be read."""
    try:
        config = load_config(run.config)
    except DistrlError:
        return []
    evaluation = [evaluation_words(run, config)] if run.policy.is_dir() else []
    return [*evaluation, resume_words(run, config)]
