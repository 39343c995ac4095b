"""The learner's loop: drain, admit, sample, update, re-prioritise, publish.

A plain synchronous class that starts no processes and never sleeps. An engine calls `step` and
decides what to do when it returns `Waiting`. Promises:

- Every arrival is counted once in `arrivals`, under what happened to it. A trajectory that cannot
  be used is refused: that raises no error, and it never becomes a reward of 0.
- Draws follow `Pacing`, once the collectors' inserts have filled the replay. While pacing forbids
  inserts, arrivals stay in their queue: this back-pressure stops the collectors. A preloaded corpus
  does not count as inserts, so it pays for no draws; the offline phase is not paced.
- Published versions only grow, even after a restart from an older checkpoint: a version that was
  seen on an arrival is never reused for other weights. Nothing is published while the critic warms
  up, since the policy does not change.
- `between` may raise `UpdateAbandoned` during an update: the weights stay as they were, and the
  draws are not counted. It must not where other ranks share the update: they would wait for ever.
  If an update takes several optimiser steps, those already taken are kept.
- `state_dict` and `load_state` resume a run bit for bit. With a `prefetcher` the next batch is
  drawn during a step: its priorities are one step old, and a resumed run draws another batch.

With several GPUs only rank 0 has a learner; the other ranks follow it (`data_parallel`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from distrl.agent.trainable_policy import TrainablePolicy
from distrl.agent.weight_digest import weight_digest
from distrl.errors import CorruptCheckpoint, CorruptData, InvalidSetting, UsageError
from distrl.learning.algorithms.algorithm import Algorithm, UpdateReport, update_report
from distrl.learning.batch import Batch
from distrl.learning.batch_builder import BatchBuilder
from distrl.learning.batch_prefetcher import BatchPrefetcher
from distrl.learning.checkpoint import split
from distrl.learning.gradient_step import BatchScores, GradientStep, UpdateAbandoned, autocast
from distrl.learning.learner_report import (
    LearnerReport,
    LearnerStatus,
    StageClock,
    Waiting,
    learner_report,
)
from distrl.learning.learner_settings import LearnerSettings
from distrl.learning.policy_watch import PolicyWatch
from distrl.learning.process_group import ScoreBatch, SyncState, UpdateBatch, WorkItem
from distrl.learning.throughput import peak_flops, work_of, work_since
from distrl.processor import bf16_obstacle
from distrl.records import Trajectory
from distrl.replay.buffer.entries import Draw, Entry, Outcome
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.priority import priority
from distrl.replay.buffer.replay_buffer import ReplayBuffer
from distrl.weights.staleness import staleness, versions_to_come
from distrl.weights.weight_digests import WeightDigests

STALE = "stale"  # counted in `arrivals` beside the replay's own outcomes


class Arrivals(Protocol):
    """A non-blocking queue of finished trajectories, such as a deque."""

    def __len__(self) -> int: ...

    def popleft(self) -> Trajectory: ...


class Publisher(Protocol):
    """The receiver of new weights. Neither it nor the learner modifies them afterwards."""

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None: ...


class Learner:
    """Trains a policy on arriving trajectories, one step at a time."""

    def __init__(
        self,
        policy: TrainablePolicy,
        algorithm: Algorithm,
        gradient_step: GradientStep,  # the one that the algorithm uses, on the same policy
        replay: ReplayBuffer,
        pacing: Pacing,
        arrivals: Arrivals,
        publisher: Publisher,
        settings: LearnerSettings | None = None,
        watch: PolicyWatch | None = None,  # None: collectors' log-probs are not checked
        prefetcher: BatchPrefetcher | None = None,
    ) -> None:
        self.policy = policy
        self.algorithm = algorithm
        self.gradient_step = gradient_step
        self.replay = replay
        self.pacing = pacing
        self.incoming = arrivals
        self.publisher = publisher
        self.settings = settings or LearnerSettings()
        self.between: Callable[[], None] = _nothing  # called between micro-batches of an update
        self.prefetcher = prefetcher
        self.device = next(iter(policy.policy_parameters())).device
        self.updates = 0
        self.version = 0
        self.arrivals = dict.fromkeys([STALE, *(outcome.value for outcome in Outcome)], 0)
        self.peak_flops = peak_flops(self.device)
        self.watch = watch
        self.digests = WeightDigests()
        self._batches = BatchBuilder(self.settings.rewards, replay.settings.capacity)
        self._newest_seen = 0
        self._synced = False  # whether the other ranks have these weights
        self._rng = np.random.default_rng(self.settings.seed)
        self._check_fit()

    # The loop -----------------------------------------------------------------------------------

    def step(self) -> LearnerReport | Waiting:
        """Run one step of the loop.

        Return `Waiting` if more trajectories must arrive first, or if the update was abandoned.
        """
        clock = StageClock()
        with clock.stage("drain"):
            self._drain()
        if not self._may_sample():
            return Waiting(self.learner_status())
        with clock.stage("batch"):
            ready = self.prefetcher.take() if self.prefetcher is not None else None
        with clock.stage("watch"):  # swaps the policy's weights, so no other thread may use it now
            gap = None if self.watch is None else self.watch.compare()
        before = work_of(self.policy)
        with clock.stage("sample"):
            draws = ready.draws if ready is not None else self._sample()
            if self.prefetcher is not None:
                self.prefetcher.start(self._sample(), self._batches)
        with clock.stage("batch"):
            batch = (ready or self._batches.ready(draws)).batch
            behind = [staleness(self.version, d.trajectory.weight_version) for d in draws]
        with clock.stage("update"), autocast(self.settings.precision, self.device):
            policy_moves = self.updates >= self.settings.warm_up_updates
            self._send(UpdateBatch(batch, policy_moves))
            try:
                self.gradient_step.between = self.between
                update = self.algorithm.update(batch, policy_moves=policy_moves)
            except UpdateAbandoned:
                return Waiting(self.learner_status())
            finally:
                self.gradient_step.between = _nothing
            draws = self._counted(draws)
            self.updates += 1
        with clock.stage("refresh"):
            self._reprioritise(draws, batch, update)
            self._refresh_slice(besides={draw.slot_id for draw in draws})
        with clock.stage("publish"):
            published = self._publish_if_due()
        return learner_report(
            batch,
            update,
            behind,
            self.learner_status(),
            clock.seconds,
            work_since(before, self.policy),
            self.peak_flops,
            published=published,
            policy_moved=policy_moves,
            watch={} if gap is None else {"logprob_gap": gap},
            draws=draws,
        )

    def preload(self, corpus: Iterable[Trajectory]) -> None:
        """Insert a corpus before the first step, without a check of its staleness."""
        for trajectory in corpus:
            self.arrivals[self.replay.insert(trajectory).outcome.value] += 1

    def score_batch(self, batch: Batch) -> BatchScores:
        """Score a batch without gradients, on all ranks."""
        self._send(ScoreBatch(batch))
        with autocast(self.settings.precision, self.device):
            return self.gradient_step.score_batch(batch)

    def may_start(self, weight_version: int, in_flight: int) -> bool:
        """Return whether a collector may start an episode while `in_flight` others are played."""
        due, per_insert = self.pacing.expected_draws()
        to_come = versions_to_come(
            in_flight,
            draws_due=due,
            draws_per_insert=per_insert,
            draws_per_version=self.settings.draws_per_version,
            draws_since_version=self.draws_since_version,
        )
        limit = self.settings.staleness
        return not self._offline and limit.may_start(self.version, weight_version, to_come)

    def learner_status(self) -> LearnerStatus:
        return LearnerStatus(
            updates=self.updates,
            version=self.version,
            samples_per_insert=self.pacing.ratio,
            owed=self.pacing.owed,
            arrivals=dict(self.arrivals),
            replay=self.replay.gauges(),
        )

    # Stages of a step ---------------------------------------------------------------------------

    def _drain(self) -> None:
        if self._offline:
            return
        for _ in range(len(self.incoming)):  # not what arrives meanwhile, or it might never end
            if not self.pacing.may_insert():
                return
            self._admit(self.incoming.popleft())

    def _admit(self, trajectory: Trajectory) -> None:
        if self.watch is not None:
            self.watch.arrived(trajectory)
        version = trajectory.weight_version
        in_it = (decision.weight_version for decision in trajectory.decisions)
        self._newest_seen = max([self._newest_seen, *in_it])
        if not self.settings.staleness.admits(self.version, version):
            self.arrivals[STALE] += 1
            return
        outcome = self.replay.insert(trajectory).outcome
        self.arrivals[outcome.value] += 1
        if outcome is Outcome.STORED:
            self.pacing.on_insert()

    def _may_sample(self) -> bool:
        if not self._offline:
            return len(self.replay) > 0 and self.pacing.may_sample(self.settings.batch_trajectories)
        if not len(self.replay):
            raise UsageError(
                f"mode={self.settings.mode!r} and an empty replay after {self.updates} updates; "
                "preload a corpus of judged trajectories before the first step"
            )
        return True

    def _sample(self) -> list[Draw]:
        n, beta = self.settings.batch_trajectories, self.settings.beta
        together, uniform = self.settings.attempts_together, self._uniform
        draws = self.replay.sample(
            n, self._rng, beta=beta, together=together, uniform=uniform, counted=False
        )
        return self.replay.with_attempts(draws) if self.settings.matched_screens else draws

    @property
    def _uniform(self) -> bool:
        """Whether draws are uniform: as the algorithm has them, unless a setting overrides it."""
        chosen = self.settings.draws
        return (self.algorithm.draws if chosen == "algorithm" else chosen) == "uniform"

    def _counted(self, draws: Sequence[Draw]) -> list[Draw]:
        if not self._offline:
            self.pacing.on_sample(len(draws))
        return self.replay.count_draws(draws)

    def _refresh_slice(self, besides: set[int]) -> None:
        """Rescore the next few slots, except `besides`, so that no priority stays outdated."""
        if self._uniform:
            return  # priorities are not used
        entries = self.replay.next_slice(self.settings.refresh_trajectories)
        rest = [entry for entry in entries if entry.slot_id not in besides]
        if not rest:
            return
        batch = self._batches.rescored(rest)
        current = self.score_batch(batch)
        nothing = torch.zeros_like(batch.rewards)  # no update, so no advantages and no losses
        found = update_report(batch, current, nothing, {}, {}, discount=self.algorithm.discount)
        self._reprioritise(rest, batch, found)

    def _reprioritise(
        self, entries: Sequence[Draw | Entry], batch: Batch, found: UpdateReport
    ) -> None:
        """Set the priorities of the entries from the report of an update or a rescoring."""
        errors, weights = found.td_errors.abs(), self.settings.priorities
        fresh = priority(errors, found.ratios, found.entropies, batch.mask, weights)
        self.replay.update_priorities([entry.slot_id for entry in entries], fresh)

    def _publish_if_due(self) -> bool:
        if self.updates <= self.settings.warm_up_updates or self._updates_since_version:
            return False
        self.version = max(self.version, self._newest_seen) + 1
        self.publish_to(self.publisher)
        return True

    def publish_to(self, publisher: Publisher) -> None:
        """Publish the current weights under the current version."""
        weights = self.policy.weights()
        self.digests.add(self.version, weight_digest(weights))
        if self.watch is not None:
            self.watch.published(self.version, weights)
        publisher.publish(weights, self.version)

    @property
    def draws_since_version(self) -> int:
        """Draws since the last version; below 0 while the critic warms up."""
        return self._updates_since_version * self.settings.batch_trajectories

    @property
    def _updates_since_version(self) -> int:
        """Updates since the last version; below 0 while the critic warms up."""
        moved = self.updates - self.settings.warm_up_updates
        return min(moved, 0) or moved % self.settings.updates_per_publish

    @property
    def _offline(self) -> bool:
        return self.settings.is_offline(self.updates)

    def _send(self, item: WorkItem) -> None:
        """Broadcast a work item; before the first one, broadcast weights and optimiser states."""
        process_group = self.gradient_step.process_group
        if process_group.size > 1 and not self._synced:
            tensors: dict[str, Tensor] = {}
            process_group.send(SyncState(split(self._what_is_learned(), tensors), tensors))
            self._synced = True
        process_group.send(item)

    def _check_fit(self) -> None:
        """Raise `InvalidSetting` if parts and settings do not fit together."""
        if self.gradient_step.policy is not self.policy:
            raise InvalidSetting(
                "the learner's policy and that of its gradient step are two objects; build the "
                "gradient step on the policy that is to be trained"
            )
        bf16_on_cpu = self.settings.precision == "bf16" and self.device.type == "cpu"
        if bf16_on_cpu and (why := bf16_obstacle()):
            raise InvalidSetting(
                f'learner.precision="bf16" with a policy on the CPU: {why}; give precision="full"'
            )
        self.pacing.may_sample(self.settings.batch_trajectories)  # raises if tolerance is too small

    # For checkpoints ----------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return all that a restarted learner needs; trajectories are referred to by their ids.

        It consists of tensors, arrays, numbers, strings, and lists and dicts of them.
        """
        return {
            **self._what_is_learned(),
            "replay": self.replay.state_dict(),
            "pacing": self.pacing.state_dict(),
            "arrivals": dict(self.arrivals),
            "updates": self.updates,
            "newest_seen": self._newest_seen,
            "rng": self._rng.bit_generator.state,
            "torch_rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state_all() if self.device.type == "cuda" else [],
        }

    def _what_is_learned(self) -> dict[str, Any]:
        return {
            "policy": self.policy.weights(),
            "version": self.version,
            "policy_optimiser": self.gradient_step.policy_optimiser.state_dict(),
            "critic_optimiser": self.gradient_step.critic_optimiser.state_dict(),
        }

    def load_state(
        self, state: Mapping[str, Any], find: Callable[[str], Trajectory | None]
    ) -> tuple[str, ...]:
        """Restore the state of `state_dict`; return the ids of trajectories that are lost.

        `find` looks a trajectory up by its id. After a `CorruptCheckpoint` this learner is only
        partly restored and must not be used.
        """
        try:
            return self._load(state, find)
        except (KeyError, TypeError, ValueError, RuntimeError, UsageError, CorruptData) as error:
            raise CorruptCheckpoint(
                f"this is no state of such a learner: {error}; it was saved by one with another "
                "policy or other optimisers, or by another version of DistRL"
            ) from error

    def _load(
        self, state: Mapping[str, Any], find: Callable[[str], Trajectory | None]
    ) -> tuple[str, ...]:
        self.gradient_step.take_over(state)
        self._synced = False
        if self.prefetcher is not None:
            self.prefetcher.take()  # discarded: it was drawn from the old replay
        lost = self.replay.load_state(state["replay"], find)
        self._batches.forget()
        self.pacing.load_state(state["pacing"])
        self.arrivals |= state["arrivals"]
        self.updates = int(state["updates"])
        self.version = int(state["version"])
        self._newest_seen = int(state["newest_seen"])
        self._rng.bit_generator.state = state["rng"]
        torch.set_rng_state(state["torch_rng"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state_all(state["cuda_rng"])
        return lost


def _nothing() -> None:
    """Do nothing: the default of `between`."""
