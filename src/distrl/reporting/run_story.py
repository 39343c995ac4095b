"""The records of a run directory, read once, and the aggregates that report and page show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from distrl.devices.safety.refusals import Refusal
from distrl.episodes.outcome import SuccessRate
from distrl.json_lines import read_lines
from distrl.records import DRY_RUN_MARK, Ending
from distrl.runs.metrics import read_points
from distrl.runs.run_account import RunAccount
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import (
    config_losses,
    phone_losses,
    read_progress,
    summary_losses,
)
from distrl.runs.run_records import (
    DeviceFault,
    EpisodeLine,
    EvaluationLine,
    Loss,
    Point,
    Recording,
    Series,
    Stage,
)
from distrl.toml_file import read_toml_file

CURVE_SPOTS = 60  # points of the learning curve
LEAST_WINDOW = 12  # episodes averaged for each of them, at least
HIGHEST_LAG = 12  # this lag and larger ones share one bar


@dataclass(frozen=True, slots=True)
class FailedDevice:
    """A device that failed: what that cost, and the last reason."""

    name: str
    episodes: int  # lost to its failures
    times: int  # how often it began to fail
    reason: str


@dataclass(frozen=True, slots=True)
class RunStory:
    """The records of a run; any of them may be missing while it goes on, or after a crash."""

    run: RunDirectory
    points: Sequence[Point]
    episodes: Sequence[EpisodeLine]  # by when they ended
    evaluations: Sequence[EvaluationLine]
    recordings: Sequence[Recording]
    losses: Sequence[Loss] = ()
    device_faults: Sequence[DeviceFault] = ()
    refusals: Sequence[Refusal] = ()  # actions that guarded phones did not carry out

    @property
    def seconds(self) -> float:
        """Duration of the run, by its own clock."""
        ends = [point.seconds for point in self.points[-1:]]
        return max([*ends, *(episode.ended for episode in self.episodes), 0.0])

    @property
    def account(self) -> RunAccount:
        return RunAccount.of(self.points)

    @property
    def dry_run(self) -> str:
        """The mark of a dry run for headings; empty if all actions were carried out.

        It goes by the episodes: one joined collector, or a run before its resume, may be dry.
        """
        dry = sum(each.ending is Ending.DRY_RUN for each in self.episodes)
        if not dry and not _is_set_dry(self.run):
            return ""
        if any(each.judged for each in self.episodes):
            return f"{DRY_RUN_MARK} in {dry} of {len(self.episodes)} episodes"
        return DRY_RUN_MARK

    def evaluation(self, stage: Stage) -> EvaluationLine | None:
        """Return the last evaluation of that stage that had any judged episodes."""
        found = [each for each in self.evaluations if each.stage == stage and each.rate.episodes]
        return found[-1] if found else None

    def course(self, series: Series, name: str) -> tuple[list[float], list[float]]:
        """Return the updates and values of one metric; NaN where it was not finite."""
        found = [p for p in self.points if p.series == series and name in p.figures]
        figures = [p.figures[name] for p in found]
        return [float(p.updates) for p in found], [math.nan if f is None else f for f in figures]

    @property
    def environments(self) -> list[str]:
        """The environments that episodes were played in, if the run has several; else empty."""
        return [name for name in dict.fromkeys(each.environment for each in self.episodes) if name]

    @property
    def devices(self) -> list[str]:
        """The names of the devices, phone-2 before phone-10."""
        names = {episode.device for episode in self.episodes}
        return sorted(names, key=lambda name: (len(name), name))

    def busy(self, device: str, spans: int) -> list[float]:
        """Return, for each of `spans` equal time spans, the share that the device played."""
        edges = np.linspace(0.0, self.seconds, spans + 1)
        seconds = np.zeros(spans)
        for episode in self.episodes:
            if episode.device == device:
                played = np.minimum(episode.ended, edges[1:]) - np.maximum(
                    episode.began, edges[:-1]
                )
                seconds += np.maximum(0.0, played)
        return [float(each) for each in np.minimum(1.0, seconds / (self.seconds / spans))]

    def success_curve(
        self, counts: Callable[[EpisodeLine], bool] = lambda episode: True
    ) -> list[tuple[float, SuccessRate]]:
        """Return (seconds, success) over sliding windows of the episodes that `counts` accepts."""
        judged = [episode for episode in self.episodes if episode.judged and counts(episode)]
        window = max(LEAST_WINDOW, len(judged) // 20)
        if len(judged) < window:
            return []
        last = len(judged) - window
        starts = sorted({round(last * spot / (CURVE_SPOTS - 1)) for spot in range(CURVE_SPOTS)})
        windows = [judged[start : start + window] for start in starts]
        return [
            (shown[window // 2].ended, SuccessRate(sum(e.success for e in shown), window))
            for shown in windows
        ]

    def lags(self) -> dict[str, int]:
        """Count trajectories by their lag at arrival, in weight versions."""
        counts = Counter(min(e.staleness, HIGHEST_LAG) for e in self.episodes)
        most = max(counts, default=0)
        return {
            f"{HIGHEST_LAG}+" if late == HIGHEST_LAG else str(late): counts[late]
            for late in range(most + 1)
        }

    def endings(self, spans: int = 24) -> list[Counter[str]]:
        """Count endings of episodes in time spans of equal length."""
        total = self.seconds or 1.0
        counts: list[Counter[str]] = [Counter() for _ in range(spans)]
        for episode in self.episodes:
            span = min(spans - 1, int(episode.ended / total * spans))
            counts[span][episode.ending.value] += 1
        return counts

    def failed_devices(self) -> list[FailedDevice]:
        """List the devices that failed, those that cost most episodes first."""
        last = {fault.device: fault for fault in self.device_faults}
        lost = Counter(e.device for e in self.episodes if e.ending is Ending.DEVICE_LOST)
        times = Counter(fault.device for fault in self.device_faults)
        rows = [FailedDevice(each, lost[each], times[each], last[each].reason) for each in last]
        return sorted(rows, key=lambda row: (-row.episodes, row.name))


def read_story(run: RunDirectory) -> RunStory:
    """Read a run directory, whatever state it is in."""
    progress, missing = read_progress(run)
    return RunStory(
        run=run,
        points=read_points(run.metrics),
        episodes=sorted(read_lines(run.episodes, EpisodeLine), key=lambda e: e.ended),
        evaluations=read_lines(run.evaluations, EvaluationLine),
        recordings=read_lines(run.recordings, Recording),
        losses=[
            *read_lines(run.losses, Loss),
            *config_losses(run),
            *missing,
            *summary_losses(run, progress),
            *phone_losses(run, progress),
        ],
        device_faults=read_lines(run.device_faults, DeviceFault),
        refusals=read_lines(run.refusals, Refusal),
    )


def _is_set_dry(run: RunDirectory) -> bool:
    """Return whether the settings ask for a dry run: all there is before the first episode."""
    try:
        settings = read_toml_file(run.config)
        environments = list(settings.get("environments", {}).values()) or [settings]
        return all(_is_dry(each["devices"]) for each in environments)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _is_dry(devices: dict[str, Any]) -> bool:
    return devices["kind"] == "adb" and devices["android"]["safety"]["dry_run"] is True
