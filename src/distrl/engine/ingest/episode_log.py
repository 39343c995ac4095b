"""Logs every trajectory of a run once: a line in `episodes.jsonl`, and the counts over all.

A trajectory is counted when it arrives. Its line is written when its collector has reported which
device played it and when, or without that if the collector died first. A trajectory whose verdict
comes later (`AWAITING_VERDICT`) gets its line when it is `judged`. So one that is stored but has no
line waits for a verdict, or the run was cut short; a resumed run handles both. Thread-safe.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from distrl.engine.ingest.success_watch import SuccessWatch
from distrl.episodes.collector_report import FinishedEpisode
from distrl.episodes.outcome import SuccessRate
from distrl.errors import StorageError
from distrl.json_lines import LineLog
from distrl.records import Ending, Trajectory
from distrl.runs.run_records import EpisodeLine
from distrl.weights.staleness import staleness

LATE_SECONDS = 180.0  # episodes that ended no longer ago count as recent
REMEMBERED = 20_000  # recent episodes at most
MAX_SPANS = 240  # of the success history that are shown: the last ones
PLANNED_SPANS = 80  # into which a run of known length is divided
LEAST_SPAN, USUAL_SPAN = 2.0, 10.0  # seconds


class SuccessHistory:
    """Success rates over time spans of equal length, which is fixed by the run's planned length.

    So a curve of them only grows to the right: earlier points never change.
    """

    def __init__(self, planned_seconds: float = 0.0) -> None:  # 0: no time limit
        planned = planned_seconds / PLANNED_SPANS
        known = 0.0 < planned < math.inf
        self.span = float(max(LEAST_SPAN, math.ceil(planned))) if known else USUAL_SPAN
        self._counts: dict[int, tuple[int, int]] = {}  # successes and episodes by span

    def add(self, seconds: float, *, success: bool) -> None:
        place = int(max(0.0, seconds) // self.span)
        successes, episodes = self._counts.get(place, (0, 0))
        self._counts[place] = successes + success, episodes + 1

    def rates(self) -> tuple[float, ...]:
        """Return the last MAX_SPANS rates, oldest first; NaN for a span without an episode."""
        end = max(self._counts, default=-1) + 1
        found = (self._counts.get(at, (0, 0)) for at in range(max(0, end - MAX_SPANS), end))
        return tuple(s / n if n else math.nan for s, n in found)


class EpisodeLog:
    """Counts and logs episodes. `clock` gives the run's seconds; `version` is the learner's."""

    def __init__(
        self,
        log: LineLog,
        clock: Callable[[], float],
        planned_seconds: float = 0.0,
        environments: Sequence[str] = (),  # of the run, where it has several
    ) -> None:
        self.version = 0
        self.endings: Counter[Ending] = Counter()
        self.faults: Counter[str] = Counter()  # of collectors and disks, by name
        self._log = log
        self._environments = environments
        self._clock = clock
        self._lock = threading.Lock()
        self._unwritten: deque[EpisodeLine] = deque()
        self._open: dict[str, EpisodeLine] = {}  # arrived; the collector's report is yet to come
        self._told: dict[str, EpisodeLine] = {}  # reported; the verdict is yet to come
        self._recent: deque[EpisodeLine] = deque(maxlen=REMEMBERED)
        self._history = SuccessHistory(planned_seconds)
        self._watch = SuccessWatch(environments)

    # In -----------------------------------------------------------------------------------------

    def recall(self, lines: Iterable[EpisodeLine]) -> None:
        """Count what was logged before the run was resumed."""
        for line in lines:
            self._count(line)
        self._watch.unkept_best = None  # a resumed run has other weights now
        self.pop_warning()

    def arrived(self, trajectory: Trajectory) -> None:
        now = self._clock()
        line = EpisodeLine(
            id=trajectory.id,
            task=trajectory.task.id,
            template=trajectory.task.template,
            ending=trajectory.ending,
            steps=len(trajectory.decisions),
            weight_version=trajectory.weight_version,
            staleness=staleness(self.version, trajectory.weight_version),
            device="",
            began=now,
            ended=now,
            environment=self._known(trajectory.environment),
        )
        with self._lock:
            self._open[line.id] = line
            if line.ending is Ending.AWAITING_VERDICT:
                self.endings[line.ending] += 1
            else:
                self._count(line)

    def _known(self, environment: str) -> str:
        """Return the name if the run has it, else "": a joined collector may send any text."""
        return environment if environment in self._environments else ""

    def judged(self, trajectory: Trajectory) -> None:
        """Log a late verdict, or the ending which says that none could be obtained."""
        now, name = self._clock(), trajectory.id
        with self._lock:
            told = self._told.pop(name, None)
            line = told or self._open.get(name)
            if line is None:
                return
            line = dataclasses.replace(line, ending=trajectory.ending)
            self.endings[Ending.AWAITING_VERDICT] -= 1
            self._count(dataclasses.replace(line, ended=now))
            if told is None:
                self._open[name] = line
            else:
                self._write(line, line.device, line.began, line.ended)

    def finished(self, episode: FinishedEpisode) -> None:
        """Add the collector's report: on which device and when the episode was played.

        The clock of its machine may be wrong or be changed, so its end is capped at the present.
        """
        now, took = self._clock(), max(0.0, episode.ended - episode.began)
        ended = min(now, max(0.0, episode.ended + now - time.time()))  # on the run's clock
        with self._lock:
            line = self._open.pop(episode.id, None)
            if line is not None:
                self._write(line, episode.device, max(0.0, ended - took), ended)

    def close(self, ids_from: str = "") -> None:
        """Write the lines of ids with this prefix without their reports: no more will come."""
        with self._lock:
            for line_id in [each for each in self._open if each.startswith(ids_from)]:
                line = self._open.pop(line_id)
                self._write(line, line.device, line.began, line.ended)

    def _write(self, line: EpisodeLine, device: str, began: float, ended: float) -> None:
        """Write a line; if the disk is full, queue it and write it with the next one."""
        began, ended = round(began, 3), round(ended, 3)
        line = dataclasses.replace(line, device=device, began=began, ended=ended)
        if line.ending is Ending.AWAITING_VERDICT:
            self._told[line.id] = line
            return
        self._unwritten.append(line)
        try:
            while self._unwritten:
                self._log.append(self._unwritten[0])
                self._unwritten.popleft()
        except StorageError:
            self.faults["not_stored"] += 1

    def _count(self, line: EpisodeLine) -> None:
        self.endings[line.ending] += 1
        self._recent.append(line)
        if line.judged:
            self._history.add(line.ended, success=line.success)
            self._watch.record(
                success=line.success, version=line.weight_version, environment=line.environment
            )

    # Out ----------------------------------------------------------------------------------------

    @property
    def trajectories(self) -> int:
        return sum(self.endings.values())

    @property
    def history_seconds(self) -> float:
        """The length of one span of the success history."""
        return self._history.span

    def success_history(self) -> tuple[float, ...]:
        with self._lock:
            return self._history.rates()

    @property
    def has_fallen(self) -> bool:
        """Whether recent success is far below the best so far."""
        return self._watch.has_fallen

    @property
    def unkept_best(self) -> int | None:
        """The weight version with the best success so far; None once `best_kept` was called."""
        return self._watch.unkept_best

    def best_kept(self, version: int) -> None:
        with self._lock:
            self._watch.best_kept(version)

    def pop_warning(self) -> str:
        """Return, once, a warning that success has fallen; empty if it has not."""
        with self._lock:
            return self._watch.pop_warning()

    def of_late(self) -> RecentEpisodes:
        """Return rate and lag up to now, and success of the newest episodes, however old."""
        now = self._clock()
        with self._lock:
            kept = list(self._recent)
        newest = max((each.ended for each in kept), default=now)
        recent = [each for each in kept if each.ended >= now - LATE_SECONDS]
        newest_few = [each for each in kept if each.ended >= newest - LATE_SECONDS]
        judged = [each for each in newest_few if each.judged]
        behind = [each.staleness for each in recent]
        minutes = max(1.0, min(LATE_SECONDS, now)) / 60.0
        return RecentEpisodes(
            success=_rate(judged),
            per_minute=len(recent) / minutes,
            lag=sum(behind) / max(1, len(behind)),
            by_environment={
                name: _rate([each for each in judged if each.environment == name])
                for name in self._environments
            },
        )

    def all_faults(self) -> dict[str, int]:
        """Faults of devices, judges, collectors and disks, by name."""
        broken = {each.value: n for each, n in self.endings.items() if each.broken and n}
        return broken | dict(self.faults)


@dataclass(frozen=True, slots=True)
class RecentEpisodes:
    """Figures of the last few minutes."""

    success: SuccessRate
    per_minute: float
    lag: float  # mean staleness when they arrived, in weight versions
    by_environment: Mapping[str, SuccessRate] = field(default_factory=dict)


def _rate(judged: Sequence[EpisodeLine]) -> SuccessRate:
    return SuccessRate(sum(each.success for each in judged), len(judged))
