"""How long a phone takes: distributions of every wait between an action and its screenshot.

The numbers are those of an emulator driven over adb: the fixed waits of the paper's released code,
and log-normals around what its published throughput needs (set by hand: replace them by your own
measurements). Each device and episode seed has its own random stream, so that a run is repeatable
to the second, and the draws of one device never depend on another.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Annotated

from distrl.bounds import Bounds, Probability, Seconds, check_bounds
from distrl.errors import InvalidSetting
from distrl.records import Action, TypeText, Wait

SHORTEST_EPISODE, MAX_EPISODE = 0.1, 10.0  # bounds of an episode's multiplier: 100x apart


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Log-normal seconds: the median, the standard deviation of the logarithm, and a cap.

    At deviation 0 it is a fixed wait.
    """

    median: Seconds
    log_sd: Annotated[float, Bounds(0.0, 100.0, "(deviation of the logarithm)")] = 0.0
    cap: Annotated[float | None, Bounds(0.0, 1e6, "seconds at most")] = None

    def __post_init__(self) -> None:
        check_bounds(self)

    def draw(self, rng: random.Random) -> float:
        if not self.log_sd or not self.median:
            seconds = self.median
        else:
            seconds = self.median * rng.lognormvariate(0.0, self.log_sd)
        return seconds if self.cap is None else min(seconds, self.cap)

    @property
    def mean(self) -> float:
        if not self.log_sd or not self.median or self.cap == 0.0:
            return self.median if self.cap is None else min(self.median, self.cap)
        free = self.median * math.exp(self.log_sd**2 / 2)
        if self.cap is None:
            return free
        # E[min(X, cap)]: the partial mean below the cap, plus the cap times the mass above it
        bound = math.log(self.cap / self.median) / self.log_sd
        below = NormalDist().cdf(bound - self.log_sd)
        return free * below + self.cap * (1.0 - NormalDist().cdf(bound))


ZERO = LogNormal(0.0)


@dataclass(frozen=True, slots=True)
class ResetLatency:
    """The time until a clean phone is ready: end the old one, clone a new one, boot it."""

    teardown: LogNormal = ZERO
    clone_pause: Seconds = 0.0  # before the copy, so that the old phone lets go of its files
    clone: LogNormal = ZERO
    boot: LogNormal = ZERO  # or the restoring of a snapshot
    poll_chance: Probability = 0.0  # not up yet at the first look
    poll_seconds: Seconds = 5.0
    cold_boot_chance: Probability = 0.0  # the snapshot did not load
    cold_boot_seconds: Seconds = 100.0

    def __post_init__(self) -> None:
        check_bounds(self)

    def draw(self, rng: random.Random) -> float:
        seconds = self.teardown.draw(rng) + self.clone_pause
        seconds += self.clone.draw(rng) + self.boot.draw(rng)
        if self.poll_chance and rng.random() < self.poll_chance:
            seconds += self.poll_seconds
        if self.cold_boot_chance and rng.random() < self.cold_boot_chance:
            seconds += self.cold_boot_seconds
        return seconds


@dataclass(frozen=True, slots=True)
class Latency:
    """Every wait of one kind of device.

    `slowdowns` are factors for all waits of a device; its name chooses one of them.
    `episode_log_sd` spreads the waits of episodes (not of resets) by a factor drawn per episode.
    """

    reset: ResetLatency = field(default_factory=ResetLatency)
    action: LogNormal = ZERO
    action_retry_chance: Probability = 0.0  # the action had to be sent again
    action_retry_seconds: Seconds = 10.0
    typing: LogNormal = ZERO  # on top of the action, for text
    page_load: LogNormal = ZERO  # only where an action led to another page or app
    settle: LogNormal = ZERO
    white_chance: Probability = 0.0  # the picture is white, so that it must be looked at again
    white_seconds: Seconds = 5.0
    white_most: Annotated[int, Bounds(0, 10**6, "looks")] = 4
    screencap: LogNormal = ZERO
    slowdowns: tuple[Annotated[float, Bounds(1e-6, 1e6, "times slower")], ...] = (1.0,)
    episode_log_sd: Annotated[float, Bounds(0.0, 100.0, "(deviation of the logarithm)")] = 0.0

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.slowdowns:
            raise InvalidSetting("latency.slowdowns is empty; give (1.0,) for devices all alike")

    def slowdown_of(self, device: str) -> float:
        """Return the factor of a device, the same in every episode."""
        return random.Random(f"slowdown/{device}").choice(self.slowdowns)


class Durations:
    """Draws the waits of one episode on one device, in the order of the calls.

    `attempt` gives repetitions of the same episode different draws.
    """

    __slots__ = ("_factor", "_latency", "_rng", "_slowdown")

    def __init__(self, latency: Latency, device: str, seed: int, attempt: int = 0) -> None:
        self._latency = latency
        self._rng = random.Random(f"latency/{device}/{seed}/{attempt}")
        self._slowdown = latency.slowdown_of(device)
        self._factor = self._slowdown * self._episode_factor()

    def _episode_factor(self) -> float:
        drawn = LogNormal(1.0, self._latency.episode_log_sd).draw(self._rng)
        return min(max(drawn, SHORTEST_EPISODE), MAX_EPISODE)

    def of_reset(self) -> float:
        return self._slowdown * self._latency.reset.draw(self._rng)

    def of_action(self, action: Action) -> float:
        latency, rng = self._latency, self._rng
        seconds = latency.action.draw(rng)
        if latency.action_retry_chance and rng.random() < latency.action_retry_chance:
            seconds += latency.action_retry_seconds
        if isinstance(action, TypeText):
            seconds += latency.typing.draw(rng)
        # a wait lasts as long as the agent asked for, on a slow device as on a fast one
        asked = action.seconds if isinstance(action, Wait) else 0.0
        return self._factor * seconds + asked

    def of_page_load(self) -> float:
        return self._factor * self._latency.page_load.draw(self._rng)

    def of_settling(self) -> float:
        """Draw the seconds until the screen has settled, retries at white pictures included."""
        latency, rng, white = self._latency, self._rng, 0
        seconds = latency.settle.draw(rng)
        if latency.white_chance:
            while white < latency.white_most and rng.random() < latency.white_chance:
                white += 1
        return self._factor * (seconds + white * latency.white_seconds)

    def of_capture(self) -> float:
        return self._factor * self._latency.screencap.draw(self._rng)


NONE = Latency()
PAPER_EMULATOR = Latency(  # a fresh clone for every episode, a fixed wait before every picture
    reset=ResetLatency(
        teardown=LogNormal(4.0, 0.5, cap=20.0),
        clone_pause=2.0,
        clone=LogNormal(12.0, 0.4),
        boot=LogNormal(15.0),
        poll_chance=0.25,
        cold_boot_chance=0.01,
    ),
    action=LogNormal(0.6, 0.4),
    action_retry_chance=0.004,
    page_load=LogNormal(0.6, 1.1, cap=60.0),
    settle=LogNormal(5.0),
    white_chance=0.06,
    screencap=LogNormal(1.2, 0.3),
)
SNAPSHOT_EMULATOR = replace(PAPER_EMULATOR, reset=ResetLatency(boot=LogNormal(5.0, 0.5)))
EVENT_DRIVEN = replace(SNAPSHOT_EMULATOR, settle=LogNormal(1.5))

# For stress tests: machines of unequal speed, and tasks whose durations differ by up to 100x.
SLOWDOWNS = (1.0, 1.5, 2.0, 4.0)
EPISODE_LOG_SD = 1.0

# Durations of the other stages of an episode, for models of a whole system.
IMAGE_FEATURES = LogNormal(0.3, 0.2)
POLICY_INFERENCE = LogNormal(2.0, 0.35)  # without a key-value cache
POLICY_INFERENCE_CACHED = LogNormal(0.6, 0.3)
EVALUATOR_CALL = LogNormal(4.0, 0.45)
COLLECTOR_START = LogNormal(42.0, 0.2)  # a new process that loads its model
TRAJECTORY_FETCH = LogNormal(2.0, 0.5)
LEARNER_UPDATE = LogNormal(120.0)
