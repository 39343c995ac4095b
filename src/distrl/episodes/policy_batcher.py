"""Dynamic batching of decisions: one policy answers all devices that wait at the same time.

A device's episode submits its observation and waits for the decision; one thread, which calls
`serve`, runs the policy. It promises:

- Every observation is decided exactly once, in a batch with others that wait, oldest first, at most
  `most` of them. It waits for a fuller batch at most `max_wait_seconds`, never longer than the last
  batch took to decide, and not at all if every episode in progress has submitted its observation.
- A device that waits for its screen delays no other.
- Newer weights are loaded between two batches, never within one, also while there are no requests.
- `close` cancels pending decisions; later calls raise `CancelledError`.

`swap` sets when new weights are loaded:

    between_decisions   At once. No device ever waits, and each decision carries its own version
                        and log-probabilities, so that ratios stay exact; the version of the
                        trajectory is that of its first decision, which is the oldest in it.
    between_episodes    When no episode of the old version is in progress any more. New episodes
                        wait at their first decision (their reset needs no weights) until the
                        others have ended: at most for the rest of one episode.

The first is the default: the second is a barrier, at which devices would spend much of their time
if episodes differ in length and the learner publishes often.

The batcher also implements `Policy`, for callers that have a batch and no threads.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from distrl.agent.policy import Policy, expect, notice
from distrl.bounds import Bounds, Checked
from distrl.errors import DistrlError
from distrl.records import Decision, Observation
from distrl.weights.weight_store import WeightSource

if TYPE_CHECKING:
    from torch import Tensor

log = logging.getLogger(__name__)

Swap = Literal["between_decisions", "between_episodes"]
IDLE_SECONDS = 0.05  # without requests, after which `serve` checks for new weights and its end


@dataclass(frozen=True, slots=True)
class PolicyBatcherSettings(Checked):
    """How batches are formed, and when weights are swapped."""

    most: Annotated[int, Bounds(1, unit="observations in a batch")] = 64
    max_wait_seconds: Annotated[float, Bounds(0.0, 1e9, "seconds for a fuller batch")] = 0.002
    swap: Swap = "between_decisions"


@dataclass(frozen=True, slots=True)
class PolicyBatcherReport:
    """Counters since the creation of the batcher."""

    decisions: int
    batches: dict[int, int]  # number of batches by size
    swaps: int
    weight_version: int
    deciding_seconds: float  # in the policy
    swapping_seconds: float
    weight_digest: str = ""  # of the current weights, `weight_version`; empty: not computed
    notice: str = ""  # why the policy is slower than it could be; empty: it is not

    @property
    def mean_batch(self) -> float:
        return self.decisions / max(1, sum(self.batches.values()))


class UpdatablePolicy(Protocol):
    """A policy that can load weights; its decisions carry their version."""

    @property
    def weight_version(self) -> int: ...

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None: ...


class WeightUpdater:
    """Keeps one policy up to date; called by the thread that decides. Versions only grow.

    `digest` computes the digest of the policy's weights; it is called after each change.
    """

    def __init__(
        self,
        policy: UpdatablePolicy,
        source: WeightSource,
        digest: Callable[[], str] = lambda: "",
    ) -> None:
        self._policy = policy
        self._source = source
        self._digest = digest
        self.acting = policy.weight_version, ""  # version and digest; replaced atomically
        self._newer: tuple[Mapping[str, Tensor], int] | None = None

    @property
    def version(self) -> int:
        return self._policy.weight_version

    @property
    def due(self) -> bool:
        """Whether newer weights were found that the policy has not loaded yet."""
        return self._newer is not None

    def look(self) -> bool:
        """Poll the source unless newer weights are already due; return whether any are due."""
        if self._newer is None:
            self._newer = self._source.newer_than(self.version)
        return self.due

    def apply(self) -> None:
        """Load the newest weights; they may be newer than those found by `look`."""
        if self._newer is None:
            return
        weights, version = self._source.newer_than(self._newer[1]) or self._newer
        self._newer = None
        self._policy.load_weights(weights, version)
        self.acting = self._policy.weight_version, self._digest()


class DecisionService(Policy, Protocol):
    """The service from which a collector gets decisions for its episodes.

    `PolicyBatcher` decides with a policy in this process and documents each method; the Ray
    engine's client forwards observations to a server that decides for several collectors.
    """

    @property
    def version(self) -> int: ...

    def enter(self) -> int: ...

    def ask(self, handle: int, observation: Observation) -> Decision: ...

    def submit(self, handle: int, observation: Observation) -> Future[Decision]: ...

    def leave(self, handle: int) -> None: ...

    def open(self) -> None: ...

    def serve(self, going: Callable[[], bool]) -> None: ...

    def wake(self) -> None: ...

    def close(self) -> None: ...

    def update_weights(self) -> bool: ...

    def report(self) -> PolicyBatcherReport: ...


@dataclass(slots=True, eq=False)
class _Request:
    handle: int
    observation: Observation
    decision: Future[Decision] = field(default_factory=Future)


class PolicyBatcher:
    """Implements `DecisionService`. `policy_lock` is held while the policy computes."""

    def __init__(
        self,
        policy: Policy,
        settings: PolicyBatcherSettings | None = None,
        updater: WeightUpdater | None = None,  # of the same policy; None: its weights are fixed
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.settings = settings or PolicyBatcherSettings()
        self.policy_lock = threading.Lock()
        self._policy = policy
        self._updater = updater
        self._clock = clock
        self._changed = threading.Condition()
        self._handles = itertools.count()
        self._episodes: dict[int, bool] = {}  # by handle: whether it has had a decision
        self._waiting: list[_Request] = []
        self._deciding: list[_Request] = []  # the batch that the policy is computing
        self._open = True
        self._hints = True  # whether the policy is told of observations in advance
        self._last_seconds = 0.0
        self._version_seen = 0
        self._batches: Counter[int] = Counter()
        self._swaps = 0
        self._deciding_seconds = 0.0
        self._swapping_seconds = 0.0

    # Called for devices, by any thread ----------------------------------------------------------

    def enter(self) -> int:
        """Register an episode; its handle is valid until `leave`."""
        with self._changed:
            handle = next(self._handles)
            self._episodes[handle] = False
            return handle

    def ask(self, handle: int, observation: Observation) -> Decision:
        """Block until the decision is made; raise `CancelledError` if the batcher has closed."""
        decision = self.submit(handle, observation)
        if decision.cancelled():
            raise CancelledError("the policy batcher has closed")
        return decision.result()

    def submit(self, handle: int, observation: Observation) -> Future[Decision]:
        """Add an observation to the next batch; the future is cancelled if the batcher closes."""
        request = _Request(handle, observation)
        if self._open and self._hints:
            self._tell(observation)
        with self._changed:
            if self._open:
                self._waiting.append(request)
                first = len(self._waiting) == 1
                if first or self._holds_back() or len(self._waiting) >= self._possible():
                    self._changed.notify()  # not for every request: `serve` need not wake
                return request.decision
        request.decision.cancel()
        return request.decision

    def _tell(self, observation: Observation) -> None:
        """Let the policy prepare the observation while it decides the previous batch.

        An error here ends no episode; if it matters, `decide` raises it again.
        """
        try:
            expect(self._policy, observation)
        except (DistrlError, MemoryError, RuntimeError) as error:  # RuntimeError: torch, threading
            self._hints = False
            log.warning("inputs are made when they are asked for, not ahead: %s", error)

    def leave(self, handle: int) -> None:
        """Unregister an episode."""
        with self._changed:
            del self._episodes[handle]
            self._changed.notify()

    # Called by the thread that runs the policy ---------------------------------------------------

    def open(self) -> None:
        """Accept requests (again)."""
        with self._changed:
            self._open = True

    def serve(self, going: Callable[[], bool]) -> None:
        """Decide requests in batches while `going()` is true."""
        while going():
            self.update_weights()
            self._deciding = self._next_batch()
            if self._deciding:
                decisions = self.decide([each.observation for each in self._deciding])
                for request, decision in zip(self._deciding, decisions, strict=True):
                    request.decision.set_result(decision)
                self._deciding = []

    def wake(self) -> None:
        """Make `serve` check at once whether to continue."""
        with self._changed:
            self._changed.notify()

    def close(self) -> None:
        """Cancel all requests, and refuse new ones."""
        with self._changed:
            self._open = False
            cancelled = (*self._deciding, *self._waiting)
            self._deciding, self._waiting = [], []
        for request in cancelled:  # without the lock: callbacks of futures may take other locks
            request.decision.cancel()  # no effect on futures that are done

    def _next_batch(self) -> list[_Request]:
        """Return the next batch; empty after IDLE_SECONDS without a request, or after `wake`."""
        with self._changed:
            if not self._servable():
                self._changed.wait(IDLE_SECONDS)
            if self._servable():
                self._wait_for_more()
            batch = self._servable()[: self.settings.most]
            for request in batch:
                self._episodes[request.handle] = True
            taken = set(batch)
            self._waiting = [each for each in self._waiting if each not in taken]
            return batch

    def _wait_for_more(self) -> None:
        """Wait for a fuller batch, while more requests can come and the time limit allows."""
        until = self._clock() + min(self.settings.max_wait_seconds, self._last_seconds)
        while 0 < len(self._servable()) < self._possible():
            left = until - self._clock()
            if left <= 0.0:
                break
            self._changed.wait(left)

    def _servable(self) -> list[_Request]:
        """Return the requests that need not wait for new weights."""
        if not self._holds_back():
            return self._waiting
        return [each for each in self._waiting if self._episodes[each.handle]]

    def _holds_back(self) -> bool:
        """Return whether episodes without a decision must wait until the others have ended."""
        one_version = self.settings.swap == "between_episodes"
        return one_version and self._updater is not None and self._updater.due

    def _possible(self) -> int:
        """Return the size of the largest batch that the episodes in progress can form."""
        asking = self._episodes.values()
        return min(self.settings.most, sum(asking) if self._holds_back() else len(asking))

    # The policy ---------------------------------------------------------------------------------

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        """Decide for these observations now, in the same order."""
        decisions: list[Decision] = []
        for first in range(0, len(observations), self.settings.most):
            begun = self._clock()
            with self.policy_lock:
                batch = observations[first : first + self.settings.most]
                decisions += self._policy.decide(batch)
            self._last_seconds = self._clock() - begun
            self._deciding_seconds += self._last_seconds
            self._batches[len(batch)] += 1
        newest = max((each.weight_version for each in decisions), default=0)
        self._version_seen = max(self._version_seen, newest)
        return decisions

    @property
    def version(self) -> int:
        """The version of the weights that decide now."""
        return self._version_seen if self._updater is None else self._updater.version

    @property
    def waiting(self) -> int:
        """The number of requests that are in no batch yet."""
        return len(self._waiting)

    def update_weights(self) -> bool:
        """Load newer weights if there are any; return whether it did.

        With swap="between_episodes" only if no episode in progress has had a decision.
        """
        if self._updater is None or not self._updater.look():
            return False
        if self.settings.swap == "between_episodes":
            with self._changed:
                if any(self._episodes.values()):
                    return False
        begun = self._clock()
        with self.policy_lock:
            self._updater.apply()
        self._swapping_seconds += self._clock() - begun
        self._swaps += 1
        return True

    def report(self) -> PolicyBatcherReport:
        batches = dict(sorted(dict(self._batches).items()))
        version, digest = (self.version, "") if self._updater is None else self._updater.acting
        return PolicyBatcherReport(
            decisions=sum(size * count for size, count in batches.items()),
            batches=batches,
            swaps=self._swaps,
            weight_version=version,
            deciding_seconds=self._deciding_seconds,
            swapping_seconds=self._swapping_seconds,
            weight_digest=digest,
            notice=notice(self._policy),
        )
