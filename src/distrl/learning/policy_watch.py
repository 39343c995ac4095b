"""Checks that the acting policy and the learner's policy compute the same log-probabilities.

Two failures are silent and ruin a run: weights that never reach the acting policy, and screens that
are lost on the way to one of the two. Both show in log-probabilities. So each step scores a few
turns that have just arrived, with the weight version that played them (the last versions are kept),
and compares the result with the log-probabilities recorded at sampling. Every `BLANK_EVERY`
comparisons it also bypasses encodings that collectors share, because a reused encoding would hide
missing screens, and scores the same turns with black screens: if the learner's scores do not change
at all, its model does not see screens. Comparisons take at most `SHARE` of the time; beyond that a
step compares nothing.

A difference above `tolerance_of` the weights raises a `PolicyMismatch` that names the faulty side,
as far as the scores tell. The mean over tokens is compared: acting and learning use different batch
sizes, and single tokens in bfloat16 differ by tenths.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from distrl.agent.simple_policies import blank_screens
from distrl.agent.trainable_policy import Scores, TrainablePolicy
from distrl.errors import LogProbsDiffer, ScreensUnseen, WeightsDiffer
from distrl.learning.batch import observation_of
from distrl.records import Observation, Trajectory

WIDE = (torch.float32, torch.float64)
CPU_TOLERANCE, GPU_TOLERANCE = 1e-3, 1e-2  # nats per token; a GPU computes convolutions in TF32
NARROW_TOLERANCE = 0.1  # nats per token, for bfloat16 and float16
TURNS = 2  # scored in a step
SHARE = 0.02  # of the wall-clock time, for comparisons at most
BLANK_EVERY = 50  # one comparison in so many also uses black screens
KEPT_VERSIONS, KEPT_BYTES = 8, 1 << 30  # limits of the kept weights; larger ones are not kept
MAX_WAITING = 256  # collectors whose turns wait to be compared


class WatchedPolicy(TrainablePolicy, Protocol):
    """A policy that can score without its cache of encodings."""

    def uncached(self) -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class _Played:
    """Turns of one trajectory that one weight version played."""

    collector: str
    version: int
    observations: list[Observation]
    answers: list[tuple[int, ...]]
    recorded: list[float]  # log-probabilities of all tokens, concatenated


class PolicyWatch:
    """Compares the acting policies with the learner's, which calls it from its own thread."""

    def __init__(
        self,
        policy: WatchedPolicy,
        tolerance: float | None = None,  # None: by the type of the weights
        share: float = SHARE,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._policy = policy
        self._share = share
        self._clock = clock
        self._since, self._spent = clock(), 0.0
        weight = next(iter(policy.policy_parameters()))
        self.tolerance = tolerance_of(weight) if tolerance is None else tolerance
        self.comparisons = 0
        self._kept: OrderedDict[int, Mapping[str, Tensor]] = OrderedDict()
        self._waiting: OrderedDict[str, _Played] = OrderedDict()  # by collector
        self._compared: dict[str, int] = {}  # the newest compared version, by collector
        self.published(0, policy.weights())

    @property
    def keeps_weights(self) -> bool:
        """Whether weights are kept; False if they are too large, so that nothing is compared."""
        return bool(self._kept)

    def published(self, version: int, weights: Mapping[str, Tensor]) -> None:
        """Keep the weights of a version; the caller must not modify them afterwards."""
        size = sum(each.nbytes for each in weights.values())
        if size <= KEPT_BYTES:
            self._kept[version] = weights
            while len(self._kept) > min(KEPT_VERSIONS, max(1, KEPT_BYTES // max(1, size))):
                self._kept.popitem(last=False)

    def arrived(self, trajectory: Trajectory) -> None:
        """Queue turns to compare: one trajectory for each collector and version."""
        collector = trajectory.id.partition("/")[0]
        played = _newest_turns(trajectory, collector)
        if played is None or played.version <= self._compared.get(collector, -1):
            return
        if collector in self._waiting or len(self._waiting) < MAX_WAITING:
            self._waiting[collector] = played

    def compare(self) -> float | None:
        """Compare the oldest queued turns; return their mean gap in nats per token, or None."""
        begun = self._clock()
        while self._waiting and self._spent <= self._share * (begun - self._since):
            _, played = self._waiting.popitem(last=False)
            if played.version in self._kept:
                gap = self._compare(played)
                self._spent += self._clock() - begun
                return gap
        return None

    def _compare(self, played: _Played) -> float:
        self._compared[played.collector] = played.version
        looks = self.comparisons % BLANK_EVERY == 0  # bypass encodings, and try black screens
        with self._holding(played.version), nullcontext() if not looks else self._policy.uncached():
            gap = _gap(self._score(played, played.observations), played)
            apart = not gap <= self.tolerance  # also if it is NaN
            if apart or looks:
                self._look_at_black(played, gap)
        if apart:
            raise self._mismatch(played, gap)
        self.comparisons += 1
        return gap

    def _look_at_black(self, played: _Played, gap: float) -> None:
        """Raise `ScreensUnseen` if screens have no effect on the scores of one of the two sides."""
        with self._policy.uncached():
            seen = self._score(played, played.observations)
            blank = self._score(played, [blank_screens(each) for each in played.observations])
        if torch.equal(blank.log_probs, seen.log_probs) and torch.equal(
            blank.value_logits, seen.value_logits
        ):
            raise ScreensUnseen(
                f"the learner gives {len(played.answers)} turns of {played.collector} the same "
                "log-probabilities and values with black screens: its model does not see them. See "
                "that the model is multimodal, and that its inputs have pixels"
            )
        if gap > self.tolerance >= _gap(blank, played):
            raise ScreensUnseen(
                f"{played.collector} played version {played.version} as if all screens were black: "
                f"{gap:.2g} nats per token from the learner's log-probabilities, "
                f"{_gap(blank, played):.2g} from those for black screens. Screens are lost between "
                "its devices and its policy"
            )

    def _mismatch(self, played: _Played, gap: float) -> WeightsDiffer | LogProbsDiffer:
        """Return the error for a gap: other weights if another version matches, else log-probs."""
        for version in [each for each in self._kept if each != played.version]:
            with self._holding(version):
                other = _gap(self._score(played, played.observations), played)
            if other <= self.tolerance < gap:
                return WeightsDiffer(
                    f"{played.collector} says that it plays version {played.version}, and its "
                    f"log-probabilities are those of version {version} ({other:.2g} nats per token "
                    f"apart, {gap:.2g} from its own): new weights do not reach its policy"
                )
        return LogProbsDiffer(
            f"{played.collector} and the learner are {gap:.2g} nats per token apart on turns of "
            f"version {played.version}, {self.tolerance:g} are allowed: one of them computes "
            "something else. Compare device, agent.policy.weights, temperature and the versions of "
            "torch and transformers on both machines"
        )

    def _score(self, played: _Played, observations: Sequence[Observation]) -> Scores:
        with torch.no_grad():
            return self._policy.score(observations, played.answers)

    @contextmanager
    def _holding(self, version: int) -> Iterator[None]:
        """Load the weights of a kept version into the policy, and restore its own afterwards."""
        own, own_version = self._policy.weights(), self._policy.weight_version
        self._policy.load_weights(self._kept[version], version)
        try:
            yield
        finally:
            self._policy.load_weights(own, own_version)


def tolerance_of(weight: Tensor) -> float:
    """Return the allowed gap in nats per token, by dtype and device of the weights."""
    if weight.dtype not in WIDE:
        return NARROW_TOLERANCE
    return CPU_TOLERANCE if weight.device.type == "cpu" else GPU_TOLERANCE


def _newest_turns(trajectory: Trajectory, collector: str) -> _Played | None:
    """Return the last few turns of the newest version, or None if nothing was sampled."""
    decisions = trajectory.decisions
    sampled = [at for at, each in enumerate(decisions) if each.token_ids and each.log_probs]
    if not sampled:
        return None
    version = max(decisions[at].weight_version for at in sampled)
    turns = [at for at in sampled if decisions[at].weight_version == version][-TURNS:]
    return _Played(
        collector,
        version,
        [observation_of(trajectory, at) for at in turns],
        [decisions[at].token_ids for at in turns],
        [value for at in turns for value in decisions[at].log_probs],
    )


def _gap(scores: Scores, played: _Played) -> float:
    """Return the mean absolute difference of log-probabilities, in nats per token."""
    found = scores.log_probs[scores.token_mask].double().cpu()
    return float((found - torch.tensor(played.recorded, dtype=torch.float64)).abs().mean())
