"""One policy for many devices: whoever waits for a decision is answered with all others who wait.

Each device's thread brings its observation (`ask`) and gets its decision; one thread, the one that
calls `serve`, runs the policy. What it promises:

- Every question is answered once, in one batch with whatever else waits, oldest first, `most` at
  most. It lingers for a fuller batch for at most `max_wait_seconds`, never for longer than the last
  answer took, and not at all when everybody who could ask has asked.
- A device that waits for its screen holds nobody up.
- Newer weights are taken over between two batches, never within one, also while nobody asks.
- When it closes, whoever waits or comes later gets a `CancelledError`.

When are new weights taken? `swap` says so.

    between_decisions   At once. No device ever waits, and each decision carries its own version
                        and log-probabilities, so that ratios stay exact; the version of the
                        trajectory is that of its first decision, which is the oldest in it.
    between_episodes    When no episode of the old version is under way any more. Episodes that are
                        to begin are held back at their first decision (a reset needs no weights, so
                        it goes on) until the others have ended: at most the tail of one episode.

The first is the default: the second is a barrier, and with episodes of unequal length and a learner
that publishes often, devices would spend a good part of their time in front of it.

The desk is a `Policy` itself, for whoever has a batch at hand and no threads.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import Annotated, Literal

from distrl.agent.policy import Policy
from distrl.bounds import Bounds, check_bounds
from distrl.records import Decision, Observation
from distrl.weights.weight_updater import WeightUpdater

Swap = Literal["between_decisions", "between_episodes"]
IDLE_SECONDS = 0.05  # after so long without a question it looks for weights and for the end


@dataclass(frozen=True, slots=True)
class PolicyBatcherSettings:
    """How questions are gathered, and when weights are swapped."""

    most: Annotated[int, Bounds(1, unit="observations in a batch")] = 64
    max_wait_seconds: Annotated[float, Bounds(0.0, 1e9, "seconds for a fuller batch")] = 0.002
    swap: Swap = "between_decisions"

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, slots=True)
class PolicyBatcherReport:
    """What the desk has done since it was made."""

    decisions: int
    batches: dict[int, int]  # how many there were of each size
    swaps: int
    weight_version: int
    deciding_seconds: float  # in the policy
    swapping_seconds: float

    @property
    def mean_batch(self) -> float:
        return self.decisions / max(1, sum(self.batches.values()))


@dataclass(slots=True, eq=False)
class _Question:
    handle: int
    observation: Observation
    answer: Future[Decision] = field(default_factory=Future)


class PolicyBatcher:
    """Decides for all. `policy_lock` is held while the policy is at work."""

    def __init__(
        self,
        policy: Policy,
        settings: PolicyBatcherSettings | None = None,
        updater: WeightUpdater | None = None,  # of the same policy; None: its weights stay
    ) -> None:
        self.settings = settings or PolicyBatcherSettings()
        self.policy_lock = threading.Lock()
        self._policy = policy
        self._updater = updater
        self._changed = threading.Condition()
        self._tickets = itertools.count()
        self._episodes: dict[int, bool] = {}  # by ticket: was anything decided in it yet?
        self._questions: list[_Question] = []
        self._in_hand: list[_Question] = []  # taken off the list, and not answered yet
        self._open = True
        self._last_seconds = 0.0
        self._version_seen = 0
        self._batches: Counter[int] = Counter()
        self._swaps = 0
        self._deciding_seconds = 0.0
        self._swapping_seconds = 0.0

    # The devices' side --------------------------------------------------------------------------

    def enter(self) -> int:
        """An episode begins; the ticket stands for it until it leaves."""
        with self._changed:
            handle = next(self._tickets)
            self._episodes[handle] = False
            return handle

    def ask(self, handle: int, observation: Observation) -> Decision:
        """Wait for a decision. `CancelledError`: the desk has closed."""
        question = _Question(handle, observation)
        with self._changed:
            if not self._open:
                raise CancelledError("the decision desk has closed")
            self._questions.append(question)
            self._changed.notify()
        return question.answer.result()

    def leave(self, handle: int) -> None:
        """The episode is over."""
        with self._changed:
            del self._episodes[handle]
            self._changed.notify()

    # The side of the one thread that decides ----------------------------------------------------

    def open(self) -> None:
        """Take questions (again)."""
        with self._changed:
            self._open = True

    def serve(self, going: Callable[[], bool]) -> None:
        """Answer questions as long as it is `going`."""
        while going():
            self.update_weights()
            self._in_hand = self._next_batch()
            if self._in_hand:
                decisions = self.decide([each.observation for each in self._in_hand])
                for question, decision in zip(self._in_hand, decisions, strict=True):
                    question.answer.set_result(decision)
                self._in_hand = []

    def wake(self) -> None:
        """Look at once whether it is still going."""
        with self._changed:
            self._changed.notify()

    def close(self) -> None:
        """Answer nobody any more."""
        with self._changed:
            self._open = False
            for question in (*self._in_hand, *self._questions):
                question.answer.cancel()  # without effect on those that were answered
            self._in_hand, self._questions = [], []

    def _next_batch(self) -> list[_Question]:
        """Empty after IDLE_SECONDS, or when somebody woke us."""
        with self._changed:
            if not self._servable():
                self._changed.wait(IDLE_SECONDS)
            until = time.perf_counter() + min(self.settings.max_wait_seconds, self._last_seconds)
            while 0 < len(self._servable()) < self._hoped_for():
                left = until - time.perf_counter()
                if left <= 0.0:
                    break
                self._changed.wait(left)
            batch = self._servable()[: self.settings.most]
            for question in batch:
                self._episodes[question.handle] = True
                self._questions.remove(question)
            return batch

    def _servable(self) -> list[_Question]:
        """Those that need not wait for new weights."""
        if not self._holds_back():
            return self._questions
        return [each for each in self._questions if self._episodes[each.handle]]

    def _holds_back(self) -> bool:
        """Must episodes that have not begun wait until the others have ended?"""
        one_version = self.settings.swap == "between_episodes"
        return one_version and self._updater is not None and self._updater.due

    def _hoped_for(self) -> int:
        """As many questions as there can be at once."""
        asking = self._episodes.values()
        return min(self.settings.most, sum(asking) if self._holds_back() else len(asking))

    # The policy ---------------------------------------------------------------------------------

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        """Decide for these now. The answers come in the same order."""
        decisions: list[Decision] = []
        for first in range(0, len(observations), self.settings.most):
            begun = time.perf_counter()
            with self.policy_lock:
                batch = observations[first : first + self.settings.most]
                decisions += self._policy.decide(batch)
            self._last_seconds = time.perf_counter() - begun
            self._deciding_seconds += self._last_seconds
            self._batches[len(batch)] += 1
        newest = max((each.weight_version for each in decisions), default=0)
        self._version_seen = max(self._version_seen, newest)
        return decisions

    @property
    def version(self) -> int:
        """Of the weights that decide now."""
        return self._version_seen if self._updater is None else self._updater.version

    @property
    def waiting(self) -> int:
        """Questions that nobody has taken up yet."""
        return len(self._questions)

    def update_weights(self) -> bool:
        """Take over newer weights, if there are any and nobody has to wait for them to be old."""
        if self._updater is None or not self._updater.look():
            return False
        if self.settings.swap == "between_episodes":
            with self._changed:
                if any(self._episodes.values()):
                    return False
        begun = time.perf_counter()
        with self.policy_lock:
            self._updater.apply()
        self._swapping_seconds += time.perf_counter() - begun
        self._swaps += 1
        return True

    def report(self) -> PolicyBatcherReport:
        batches = dict(sorted(dict(self._batches).items()))
        return PolicyBatcherReport(
            decisions=sum(size * count for size, count in batches.items()),
            batches=batches,
            swaps=self._swaps,
            weight_version=self.version,
            deciding_seconds=self._deciding_seconds,
            swapping_seconds=self._swapping_seconds,
        )
