"""Aggregates over a run's points: shares of time by stage, staleness, effective sample size.

The live view, `result.json` and the report all use it on the same points, so that they show the
same figures. Every point of the series `collection` has cumulative seconds by stage since the
process started: `seconds/STAGE` summed over all phones, `learner_seconds/STAGE` of the learner.
Their shares add up to 1. They count from the first update on (from the start while there is none),
since until then the learner only waits.

    phones     playing        the phone resets, acts, or draws its screen
               deciding       the policy decides, or is busy with others
               judging        the judge sets the task up, or looks at the phone
               packing        the collector packs a screen
               queueing       waiting for a thread of the collector
               delivery       the trajectory is being stored, or too many wait for the learner
               admission      no episode may start: it would be too stale at its end
               task           no task is available
               out of order   the phone is quarantined
               other          the rest of the collector's own work
    learner    the stages of its steps, and waiting (for trajectories), checkpointing, evaluating
               and other (metrics, the view)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from distrl.runs.run_records import Point

PHONE, LEARNER = "seconds/", "learner_seconds/"  # prefixes of figures
PHONE_STAGES = {
    "reset": "playing",
    "act": "playing",
    "decide": "deciding",
    "begin": "judging",
    "judge": "judging",
    "pack": "packing",
    "queue": "queueing",
    "deliver": "delivery",
    "admission": "admission",
    "task": "task",
    "device": "out of order",
    "own": "other",
}
LEARNER_STAGES = {
    "drain": "drawing",
    "sample": "drawing",
    "batch": "preparing",
    "update": "updating",
    "refresh": "re-prioritising",
    "publish": "publishing",
}
PHONES_WAIT = ("delivery", "admission", "task", "out of order")
Figures = Mapping[str, float | None]


@dataclass(slots=True)
class Counters:
    """Sums counters with one prefix over a run; they restart at 0 whenever it is resumed."""

    prefix: str
    seconds: dict[str, float] = field(default_factory=dict)  # by stage
    _last: dict[str, float] = field(default_factory=dict)
    _begun: dict[str, float] = field(default_factory=dict)  # `seconds` at the call of `begin`

    def add(self, figures: Figures) -> None:
        found = {
            name.removeprefix(self.prefix): seconds or 0.0
            for name, seconds in figures.items()
            if name.startswith(self.prefix)
        }
        if sum(found.values()) < sum(self._last.values()):
            self._last = {}
        for stage, seconds in found.items():  # may fall: running work is attributed later
            grown = seconds - self._last.get(stage, 0.0)
            self.seconds[stage] = self.seconds.get(stage, 0.0) + grown
        self._last = found or self._last

    def begin(self) -> None:
        """Count shares from here on, once any time has been recorded after it."""
        self._begun = dict(self.seconds)

    def shares(self, names: Mapping[str, str]) -> dict[str, float]:
        """Return shares by displayed name (`names`, else the stage's own); empty without time."""
        since = {
            stage: max(0.0, seconds - self._begun.get(stage, 0.0))
            for stage, seconds in self.seconds.items()
        }
        whole = {stage: max(0.0, seconds) for stage, seconds in self.seconds.items()}
        known = since if sum(since.values()) > 0.0 else whole
        total, shares = sum(known.values()), dict[str, float]()
        for stage, seconds in known.items():
            if total > 0.0:
                name = names.get(stage, stage)
                shares[name] = shares.get(name, 0.0) + seconds / total
        return shares


@dataclass(slots=True)
class TimeAccount:
    """Time of phones and learner, by stage."""

    _phones: Counters = field(default_factory=lambda: Counters(PHONE))
    _learner: Counters = field(default_factory=lambda: Counters(LEARNER))
    _updated: bool = False

    def add(self, point: Point) -> None:
        if point.series != "collection":
            return
        for counters in (self._phones, self._learner):
            counters.add(point.figures)
            if point.updates and not self._updated:
                counters.begin()
        self._updated |= point.updates > 0

    def phones(self) -> dict[str, float]:
        """Share of all phones' time in each stage; empty where none was recorded."""
        return self._phones.shares(PHONE_STAGES)

    def learner(self) -> dict[str, float]:
        """Share of the learner's time in each stage; empty where none was recorded."""
        return self._learner.shares(LEARNER_STAGES)


@dataclass(slots=True)
class RunAccount:
    """All aggregates of a run; `add` its points in order."""

    time: TimeAccount = field(default_factory=TimeAccount)
    weights_moved: bool = False  # by any update that was not critic warm-up
    training_seconds: float = 0.0  # without evaluations
    _updates: int = 0
    _staleness_sum: float = 0.0  # over updates
    _effective_sum: float = 0.0

    @classmethod
    def of(cls, points: Iterable[Point]) -> RunAccount:
        account = cls()
        for point in points:
            account.add(point)
        return account

    def add(self, point: Point) -> None:
        self.time.add(point)
        figures = point.figures
        if point.series == "learner":
            self.weights_moved |= bool(figures.get("policy_moved"))
            self._updates += 1
            self._staleness_sum += figures.get("staleness/mean") or 0.0
            self._effective_sum += figures.get("ratio/effective_sample_share") or 0.0
        else:
            self.training_seconds = figures.get("training_seconds") or self.training_seconds

    @property
    def staleness(self) -> float:
        """Mean staleness of drawn trajectories, in weight versions, over all updates."""
        return self._staleness_sum / max(1, self._updates)

    @property
    def effective_sample_share(self) -> float:
        """Effective sample size by the turns' ratios, as a share of them; mean over all updates."""
        return self._effective_sum / max(1, self._updates)


def waiting_share(phones: Mapping[str, float]) -> float:
    """Return the share of the phones' time in stages that kept them from playing."""
    return sum(phones.get(stage, 0.0) for stage in PHONES_WAIT)
