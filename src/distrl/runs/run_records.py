"""The records that a run writes into its directory, for people and for `report.html`.

    metrics.jsonl       `Point`: metrics of learner and collection over the run
    episodes.jsonl      `EpisodeLine`: every finished training episode
    evaluations.jsonl   `EvaluationLine`: successes by template, before, during and after training
    recordings.jsonl    `Recording`: a few episodes to look at; their screens are in pictures/
    losses.jsonl        `Loss`: what a resume did not find, and the user accepted as lost
    collectors.json     `CollectorNotes`: collectors by their last heartbeats; rewritten as a whole
    result.json         the `RunResult`: the run in a few numbers

The .jsonl files have one record a line and are only ever appended to. `seconds` are those of the
run's own clock, which stops between a crash and a resume, so that series continue without a jump.
`updates` counts the learner's updates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from distrl.episodes.outcome import PairedGain, SuccessRate
from distrl.records import Ending

Series = Literal["learner", "collection", "resumed"]
Stage = Literal["before", "during", "after"]


@dataclass(frozen=True, slots=True)
class Point:
    """Metrics at one moment; None is a value that was not finite.

    A point of the series `resumed` has no metrics: it marks that the run was resumed from the
    checkpoint at `updates`, so that earlier points with more updates no longer hold.

    Names that the report shows (others are kept): of `learner`, those of `LearnerReport.gauges`
    (loss/…, ratio/…, staleness/mean, entropy, seconds/…); of `collection`, queue, training_seconds,
    and where time went (`run_account`).
    """

    series: Series
    updates: int
    seconds: float
    figures: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """One finished training episode. `staleness`: its lag at arrival, in weight versions."""

    id: str
    task: str
    template: str
    ending: Ending
    steps: int
    weight_version: int
    staleness: int
    device: str
    began: float  # seconds
    ended: float  # seconds
    environment: str = ""  # in which it was played, where the run has several

    @property
    def success(self) -> bool:
        return self.ending is Ending.SUCCESS

    @property
    def judged(self) -> bool:
        """False if a device or judge failed: the episode counts neither for nor against."""
        return self.ending.judged


@dataclass(frozen=True, slots=True)
class TemplateCount:
    """Judged episodes of one template, and how many of them succeeded."""

    template: str
    successes: int
    episodes: int
    environment: str = ""  # where the run has several


def environment_key(environment: str, name: str) -> str:
    """Return the name of a task or an episode, with its environment in front if there is one."""
    return f"{environment}/{name}" if environment else name


@dataclass(frozen=True, slots=True)
class EvaluationLine:
    """One evaluation of the policy, by template, in all environments of the run together."""

    stage: Stage
    split: str
    updates: int
    weight_version: int
    seconds: float
    templates: tuple[TemplateCount, ...]
    # Of judged episodes, by task id; where the run has several environments, by `environment_key`.
    successes: Mapping[str, bool] = field(default_factory=dict)

    @property
    def environments(self) -> tuple[str, ...]:
        """The names of the environments, if the run has several; else empty."""
        names = dict.fromkeys(each.environment for each in self.templates)
        return tuple(name for name in names if name)

    def in_environment(self, name: str) -> EvaluationLine:
        """Return the part of the evaluation that was played in one environment."""
        own = environment_key(name, "")
        return replace(
            self,
            templates=tuple(each for each in self.templates if each.environment == name),
            successes={task: s for task, s in self.successes.items() if task.startswith(own)},
        )

    @property
    def rate(self) -> SuccessRate:
        return SuccessRate(
            sum(each.successes for each in self.templates),
            sum(each.episodes for each in self.templates),
        )


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A screen, the action on it, and the learner's estimates; None: not computed."""

    picture: str  # a file in pictures/, with the finger drawn on
    action: str
    value: float | None = None  # of the screen: the probability of success
    ratio: float | None = None  # of the policy in training to the one that acted
    advantage: float | None = None  # in returns
    probability: float | None = None  # of the whole answer, by the policy that acted


@dataclass(frozen=True, slots=True)
class Recording:
    """An episode to look at."""

    id: str
    stage: Stage
    template: str
    instruction: str
    ending: Ending
    reason: str
    updates: int
    weight_version: int
    steps: tuple[RecordedStep, ...]
    environment: str = ""  # where the run has several


@dataclass(frozen=True, slots=True)
class Loss:
    """A trajectory, or a file of the run, that is damaged or gone."""

    kind: Literal["trajectory", "file"]
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class DeviceFault:
    """A device that began to fail, or fails for another reason than before."""

    device: str
    seconds: float  # of the run
    reason: str


@dataclass(frozen=True, slots=True)
class CollectorNote:
    """A collector, as of its last heartbeat."""

    name: str
    place: str  # its node; empty: that of the learner
    in_flight: int  # episodes
    trajectories: int  # delivered so far
    quarantined: Mapping[str, str]  # phones that failed too often, with the last reason


@dataclass(frozen=True, slots=True)
class CollectorNotes:
    """All collectors that hold a slot now."""

    collectors: tuple[CollectorNote, ...]


@dataclass(frozen=True, slots=True)
class EnvironmentSuccess:
    """Success in one of several environments of a run, as `RunResult` has it for all together."""

    before: SuccessRate
    after: SuccessRate
    gain: PairedGain

    def to_json(self) -> dict[str, Any]:
        tables = {"before": _table(self.before), "after": _table(self.after)}
        return tables | {"gain": _gain_table(self.gain)}


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run. Success before and after is on tasks of `evaluation.split`."""

    success_before: SuccessRate
    success_after: SuccessRate
    trajectories: int
    updates: int
    wall_s: float  # with evaluations
    training_s: float  # without them
    weights_moved: bool  # False: all updates were critic warm-up
    gain: PairedGain  # on the tasks that were played before and after
    phone_time: Mapping[str, float]  # shares by stage, as in `run_account`
    learner_time: Mapping[str, float]
    phones_waiting_share: float  # of the phones' time
    staleness_mean: float  # weight versions, of what was drawn, over all updates
    effective_sample_share: float  # effective sample size by ratios, as a share of the turns
    samples_per_insert: float  # draws for each trajectory since the replay was filled
    seed: int
    lost_trajectories: int = 0  # missing or damaged at resumes of the run
    damaged_files: tuple[str, ...] = ()  # of the run directory: damaged, cut or gone
    success_by_environment: Mapping[str, EnvironmentSuccess] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Convert to plain values; a rate is a table with `low` and `high`, its 95 % interval."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        environments = plain.pop("success_by_environment")
        if environments:
            tables = {name: each.to_json() for name, each in environments.items()}
            plain["success_by_environment"] = tables
        return plain | {
            "success_before": _table(self.success_before),
            "success_after": _table(self.success_after),
            "gain": _gain_table(self.gain),
            "phone_time": {stage: round(share, 4) for stage, share in self.phone_time.items()},
            "learner_time": {stage: round(share, 4) for stage, share in self.learner_time.items()},
        }


def _gain_table(gain: PairedGain) -> dict[str, float | bool]:
    low, high = gain.interval
    found = {"tasks": gain.tasks, "difference": gain.difference, "low": low, "high": high}
    return found | {"significant": gain.significant}


def _table(rate: SuccessRate) -> dict[str, float | None]:
    low, high = rate.interval
    return {
        "rate": rate.rate if rate.episodes else None,
        "low": low,
        "high": high,
        "successes": rate.successes,
        "episodes": rate.episodes,
    }
