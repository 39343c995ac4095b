"""The settings of a plan: phones, policy copies, a learner, and how long each operation takes.

Seconds are of the devices' clock. The defaults describe the paper's system with our collectors: 32
emulators, two GPUs for the policy, four for the learner. A plan is a TOML file with the sections
below; what it leaves out keeps its default. `distrl plan --from-run` fills the same sections with
what a run has measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from distrl.bounds import Bounds, Checked, Seconds, Share, check_bounds
from distrl.config.config_file import found_config
from distrl.config.typed_reader import read_section, read_toml
from distrl.errors import InvalidSetting
from distrl.replay.buffer.pacing import PacingSettings
from distrl.weights.staleness import StalenessLimit
from phonesim.latency import ZERO, LogNormal

PhoneKind = Literal["stated", "paper_emulator", "snapshot_emulator", "event_driven"]
Broadcast = Literal["star", "tree"]


@dataclass(frozen=True, slots=True)
class PhonePlan:
    """The phones. `kind` selects known waits; for `stated`, give `reset`, `look` and `step`."""

    count: Annotated[int, Bounds(1, 10**6, "phones")] = 32
    kind: PhoneKind = "paper_emulator"
    reset: LogNormal = ZERO  # seconds to reset a phone
    look: LogNormal = ZERO  # seconds from the reset to the first screen
    step: LogNormal = ZERO  # seconds from an action to the screen after it
    page_share: Share = 0.5  # of actions that open another page, which has to load
    slowdowns: tuple[float, ...] = (1.0,)  # factors on a phone's waits, assigned in turn
    episode_log_sd: Annotated[float, Bounds(0.0, 5.0, "of the logarithm")] = 0.0
    gigabytes: Annotated[float, Bounds(0.0, 1e3, "of memory each")] = 4.5  # an Android emulator

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.slowdowns or min(self.slowdowns) <= 0.0:
            raise InvalidSetting(
                f"phones.slowdowns={list(self.slowdowns)}; give factors above 0, [1.0] for phones "
                "that are all alike"
            )
        if self.kind == "stated" and self.step.median <= 0.0:
            raise InvalidSetting(
                f"phones.step.median={self.step.median!r} with kind='stated'; say how long a step "
                "takes, in seconds above 0"
            )


@dataclass(frozen=True, slots=True)
class EpisodePlan(Checked):
    """Lengths of episodes in decisions: as measured, or drawn as in the paper.

    A success takes N(`success_steps`, `success_steps_sd`) decisions, a failure mostly `step_limit`.
    """

    measured_steps: tuple[Annotated[int, Bounds(1, unit="decisions")], ...] = ()  # if given
    step_limit: Annotated[int, Bounds(1, 10**4, "decisions")] = 10
    success_rate: Share = 0.6
    success_steps: Annotated[float, Bounds(1.0, 1e4, "decisions")] = 5.0
    success_steps_sd: Annotated[float, Bounds(0.0, 1e3, "decisions")] = 1.8
    early_failures: Share = 0.2  # of the failures that end before the limit
    spoken_ends: Share = 1.0  # of episodes that end with a final action: no device time
    broken: Share = 0.0  # of episodes that a fault cuts off: nothing to learn from


@dataclass(frozen=True, slots=True)
class CollectorPlan(Checked):
    """The processes that drive phones. Their Python runs one thread at a time."""

    count: Annotated[int, Bounds(1, 10**5, "processes")] = 2
    nodes: Annotated[int, Bounds(1, 10**5, "machines")] = 2  # over which they are spread
    seconds_per_step: Seconds = 0.0  # of a collector's processor, for each step
    seconds_per_episode: Seconds = 0.0  # the same for a start, a verdict and a delivery
    acknowledge: LogNormal = LogNormal(0.01)  # seconds until the learner has stored it
    poll_seconds: Seconds = 0.05  # interval at which phones that may not start ask again
    gigabytes: Annotated[float, Bounds(0.0, 1e4, "of memory each")] = 0.42  # without phones, model


@dataclass(frozen=True, slots=True)
class PolicyPlan:
    """The copies of the policy that decide, a GPU each, and how long a batch takes them.

    `batch_seconds[i]` is what a batch of `batch_sizes[i]` takes; between sizes it is interpolated
    linearly, and beyond the last one extrapolated with the last slope.
    """

    copies: Annotated[int, Bounds(1, 10**5, "GPUs that decide")] = 2
    batch_sizes: tuple[Annotated[int, Bounds(1)], ...] = (1, 64)
    batch_seconds: tuple[Seconds, ...] = (0.6, 1.2)
    log_sd: Annotated[float, Bounds(0.0, 3.0, "of the logarithm")] = 0.0
    most: Annotated[int, Bounds(1, 10**5, "observations in a batch")] = 64
    max_wait_seconds: Seconds = 0.002  # to wait for a fuller batch
    travel: LogNormal = ZERO  # of a request and its answer, if the policy is remote
    swap_seconds: Seconds = 0.0  # to load new weights
    look_seconds: Seconds = 0.1  # between two polls for new weights
    gigabytes: Annotated[float, Bounds(0.0, 1e4, "of weights")] = 0.9

    def __post_init__(self) -> None:
        check_bounds(self)
        sizes, seconds = self.batch_sizes, self.batch_seconds
        if not sizes or len(sizes) != len(seconds) or list(sizes) != sorted(set(sizes)):
            raise InvalidSetting(
                f"policy.batch_sizes={list(sizes)} with batch_seconds={list(seconds)}; give as "
                "many seconds as sizes, and sizes that grow"
            )


@dataclass(frozen=True, slots=True)
class LearnerPlan(Checked):
    """The learner; `update` is the time of one update on one GPU, which several GPUs share."""

    gpus: Annotated[int, Bounds(0, 10**4, "GPUs; 0: nobody learns")] = 4
    update: LogNormal = LogNormal(410.0)  # seconds on one GPU; the paper's 120 s on four
    parallel_share: Share = 0.943  # of an update that runs in parallel on several GPUs
    insert_seconds: Seconds = 0.0  # to insert one trajectory
    batch_trajectories: Annotated[int, Bounds(1, 10**6, "trajectories")] = 32
    updates_per_publish: Annotated[int, Bounds(1, 10**6, "updates")] = 1
    warm_up_updates: Annotated[int, Bounds(0, 10**6, "updates without a version")] = 0
    capacity: Annotated[int, Bounds(1, 10**8, "trajectories in the replay")] = 10_000
    max_waiting: Annotated[int, Bounds(1, 10**7, "trajectories before the learner")] = 256
    staleness: StalenessLimit = field(default_factory=StalenessLimit)

    @property
    def draws_per_version(self) -> int:
        return self.batch_trajectories * self.updates_per_publish

    @property
    def update_share(self) -> float:
        """Time of an update on `gpus` GPUs as a share of that on one (Amdahl's law)."""
        return 1.0 - self.parallel_share + self.parallel_share / max(1, self.gpus)


@dataclass(frozen=True, slots=True)
class NetworkPlan(Checked):
    """Traffic. Weights go once to each node (`star`: always from the learner's machine)."""

    weight_megabytes: Annotated[float, Bounds(0.0, 1e7, "MB a version")] = 14.0
    screen_kilobytes: Annotated[float, Bounds(0.0, 1e5, "kB")] = 35.0
    link_megabits: Annotated[float, Bounds(0.001, 1e7, "Mbit/s of every machine")] = 10_000.0
    broadcast: Broadcast = "star"


@dataclass(frozen=True, slots=True)
class Prices(Checked):
    """Price of one more of each, in any unit; if 0, the advice compares gains alone."""

    phone: Annotated[float, Bounds(0.0)] = 0.0
    policy_gpu: Annotated[float, Bounds(0.0)] = 0.0
    learner_gpu: Annotated[float, Bounds(0.0)] = 0.0


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """A whole system to be simulated."""

    phones: PhonePlan = field(default_factory=PhonePlan)
    episodes: EpisodePlan = field(default_factory=EpisodePlan)
    collectors: CollectorPlan = field(default_factory=CollectorPlan)
    policy: PolicyPlan = field(default_factory=PolicyPlan)
    learner: LearnerPlan = field(default_factory=LearnerPlan)
    pacing: PacingSettings = field(default_factory=lambda: PacingSettings(samples_per_insert=1.0))
    network: NetworkPlan = field(default_factory=NetworkPlan)
    prices: Prices = field(default_factory=Prices)

    def __post_init__(self) -> None:
        if self.learner.gpus:
            batch = self.learner.batch_trajectories
            self.pacing.new(batch).may_sample(batch)
        counts = {
            "policy.copies": self.policy.copies,
            "collectors.count": self.collectors.count,
            "collectors.nodes": self.collectors.nodes,
        }
        for name, count in counts.items():
            if count > self.phones.count:
                raise InvalidSetting(
                    f"{name}={count} for phones.count={self.phones.count}; some would have no "
                    "phone: give at most that many"
                )


def load_plan(path: Path) -> PlanSettings:
    return read_section(PlanSettings(), read_toml(found_config(path)))
