"""Logs every trajectory of a run once: a line in `episodes.jsonl`, and the counts over all.

A trajectory is counted when it arrives; its line is written when its collector has reported which
device played it and when, or without that if the collector died first. One whose verdict comes
later (`AWAITING_VERDICT`) has no line before it is `judged`: what is stored and has no line waits
for a verdict, or the run was cut short, and a resumed run goes on from that. Thread-safe.
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

LATE_SECONDS = 180.0  # what counts as recent
REMEMBERED = 20_000  # recent episodes at most
MAX_SPANS = 240  # of the success history that are shown, the last ones
PLANNED_SPANS = 80  # in which a run of known length is divided
LEAST_SPAN, USUAL_SPAN = 2.0, 10.0  # seconds


class SuccessHistory:
    """Success rates over equal spans of the run. Their length is decided once, by how long the run
    is to last, and never changes: a curve of them grows to the right and is not drawn anew.
    """

    def __init__(self, planned_seconds: float = 0.0) -> None:  # 0: it is not limited by time
        planned = planned_seconds / PLANNED_SPANS
        known = 0.0 < planned < math.inf
        self.span = float(max(LEAST_SPAN, math.ceil(planned))) if known else USUAL_SPAN
        self._counts: dict[int, tuple[int, int]] = {}  # successes and episodes by span

    def add(self, seconds: float, *, success: bool) -> None:
        place = int(max(0.0, seconds) // self.span)
        successes, episodes = self._counts.get(place, (0, 0))
        self._counts[place] = successes + success, episodes + 1

    def rates(self) -> tuple[float, ...]:
        """The last MAX_SPANS, oldest first; NaN for a span in which no episode ended."""
        end = max(self._counts, default=-1) + 1
        found = (self._counts.get(at, (0, 0)) for at in range(max(0, end - MAX_SPANS), end))
        return tuple(s / n if n else math.nan for s, n in found)


class EpisodeLog:
    """Counts arrivals. `clock` gives the seconds of the run, `version` is the learner's."""

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
        self._told: dict[str, EpisodeLine] = {}  # complete but for their verdict
        self._recent: deque[EpisodeLine] = deque(maxlen=REMEMBERED)
        self._history = SuccessHistory(planned_seconds)
        self._watch = SuccessWatch(environments)

    # In -----------------------------------------------------------------------------------------

    def recall(self, lines: Iterable[EpisodeLine]) -> None:
        """Count what was logged before the run was resumed."""
        for line in lines:
            self._count(line)
        self._watch.unkept_best = None  # other weights than there are now
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
        """Its name; of a joined collector it is a stranger's text, which may be any."""
        return environment if environment in self._environments else ""

    def judged(self, trajectory: Trajectory) -> None:
        """Log the verdict that came later, or the ending that says that none could be had."""
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
        """Add the collector's report: where and when it was played.

        The clock of its machine may be wrong, or be set meanwhile: nothing ends later than now.
        """
        now, took = self._clock(), max(0.0, episode.ended - episode.began)
        ended = min(now, max(0.0, episode.ended + now - time.time()))  # on the run's clock
        with self._lock:
            line = self._open.pop(episode.id, None)
            if line is not None:
                self._write(line, episode.device, max(0.0, ended - took), ended)

    def close(self, ids_from: str = "") -> None:
        """No more reports on ids that begin so will come: write their lines with what is known."""
        with self._lock:
            for line_id in [each for each in self._open if each.startswith(ids_from)]:
                line = self._open.pop(line_id)
                self._write(line, line.device, line.began, line.ended)

    def _write(self, line: EpisodeLine, device: str, began: float, ended: float) -> None:
        """Write a line; what a full disk does not take now is written with the next one."""
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
        """Of one span of the history."""
        return self._history.span

    def success_history(self) -> tuple[float, ...]:
        with self._lock:
            return self._history.rates()

    @property
    def has_fallen(self) -> bool:
        """Is success of late far below the best?"""
        return self._watch.has_fallen

    @property
    def unkept_best(self) -> int | None:
        """The version with which success was better than ever before, until `best_kept`."""
        return self._watch.unkept_best

    def best_kept(self, version: int) -> None:
        with self._lock:
            self._watch.best_kept(version)

    def pop_warning(self) -> str:
        """That success has fallen, in a sentence, once; empty: it has not."""
        with self._lock:
            return self._watch.pop_warning()

    def of_late(self) -> RecentEpisodes:
        """The rate is that of now; success that of the newest episodes, however long ago."""
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
    """The last few minutes."""

    success: SuccessRate
    per_minute: float
    lag: float  # mean staleness when they arrived, in weight versions
    by_environment: Mapping[str, SuccessRate] = field(default_factory=dict)


def _rate(judged: Sequence[EpisodeLine]) -> SuccessRate:
    return SuccessRate(sum(each.success for each in judged), len(judged))
