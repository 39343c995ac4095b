"""One optimiser step over a whole batch, in micro-batches that fit into memory.

`score_batch` scores the batch without gradients, for targets and ratios. `step` runs the turns
through the model again in micro-batches of bounded size, lets the algorithm compute losses from the
scores of each, accumulates the gradients, clips those of the policy and of the critic separately,
and steps both optimisers. Losses must be sums over turns divided by totals of the whole batch, so
that the split does not change the result. A NaN or infinite gradient raises an error before any
weight has changed.
If the activations of the whole batch fit (`one_pass_turns`, and on a GPU the free memory),
`score_for_step` scores it with gradients and `step` runs backward from those scores: one forward
pass in place of two, with the same result.
If a GPU runs out of memory nonetheless, forward or backward, the gradients are computed again with
less: in two passes instead of one, then with gradient checkpointing, if the policy
`SupportsCheckpointing`; the result is the same.
Several ranks (`process_group`) each compute a slice of the turns, and all get the same result.

`BatchScores` are on the CPU, like the batch. `Scores` are on the policy's device, so a loss moves
its per-turn tensors there.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import torch
from torch import Tensor
from torch.nn import Parameter

from distrl.agent.trainable_policy import Scores, SupportsCheckpointing, TrainablePolicy
from distrl.bounds import Bounds, Checked, Fixed
from distrl.learning.activation_memory import ActivationMemory
from distrl.learning.batch import Batch
from distrl.learning.learner_settings import Precision
from distrl.learning.losses.averages import minimum_of_heads
from distrl.learning.process_group import ProcessGroup, SingleProcess
from distrl.records import Observation

Losses = dict[str, Tensor]  # by name; their sum is minimised
TurnLoss = Callable[[Scores, Tensor], Losses]  # scores of some turns, and their indices [m]
ScoredTurns = list[tuple[Tensor, Scores]]  # indices of turns, and their scores with a gradient
Found = Iterable[tuple[Tensor, Tensor]]  # indices of turns [m], and a result for each, [m, …]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StepSettings(Checked):
    """Learning rates, clips and batch sizes. A gradient above its clip is scaled down to it."""

    learning_rate: Annotated[float, Bounds(0.0, unit="(of the policy)", open=True)] = 1e-4
    critic_learning_rate: Annotated[float, Bounds(0.0, unit="(of the critic)", open=True)] = 1e-3
    clip: Annotated[float, Bounds(0.0, unit="(norm of the policy's gradient)", open=True)] = 1.0
    critic_clip: Annotated[
        float, Bounds(0.0, unit="(norm of the critic's gradient)", open=True)
    ] = 1.0
    weight_decay: Annotated[float, Bounds(0.0, unit="per step, times the learning rate")] = 0.0
    micro_batch_turns: Annotated[int, Bounds(1, unit="turns through the model at once")] = 64
    micro_batch_tokens: Annotated[
        int, Bounds(1, unit="tokens of answers at once, padding included")
    ] = 8192
    one_pass_turns: Annotated[
        int,
        Bounds(0, unit="turns whose activations are kept, so that one forward pass does"),
        Fixed("on a GPU the memory that is free decides; on a CPU 512 turns are few"),
    ] = 512


@dataclass(frozen=True, slots=True)
class BatchScores:
    """Scores of a whole batch by the current policy and critic, without gradients, on the CPU."""

    log_probs: Tensor  # [b, t, k]
    entropies: Tensor  # [b, t, k]
    values: Tensor  # [b, t + 1]: minimum of the heads, a probability; last screens included


class ReferencePolicy(Protocol):
    """A frozen policy; a KL penalty keeps the trained policy close to it."""

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores: ...


class UpdateAbandoned(Exception):
    """An update was aborted between two micro-batches; the weights are unchanged."""


class GradientStep:
    """Scores batches, and updates a policy and its critic.

    `between` is called before every micro-batch and may raise `UpdateAbandoned`.
    """

    def __init__(
        self,
        policy: TrainablePolicy,
        settings: StepSettings | None = None,
        process_group: ProcessGroup | None = None,
        memory: ActivationMemory | None = None,  # None: of the policy's device
    ) -> None:
        self.policy = policy
        self.settings = settings or StepSettings()
        self.process_group = process_group or SingleProcess()
        self.between: Callable[[], None] = lambda: None
        self.policy_parameters = list(policy.policy_parameters())
        self.critic_parameters = list(policy.critic_parameters())
        rate, critic_rate = self.settings.learning_rate, self.settings.critic_learning_rate
        decay = self.settings.weight_decay
        self.policy_optimiser = _optimiser(self.policy_parameters, rate, decay)
        self.critic_optimiser = _optimiser(self.critic_parameters, critic_rate, decay)
        self.memory = memory or ActivationMemory.of(self.policy_parameters[0].device)
        self._one_pass_turns = self.settings.one_pass_turns  # lowered when they did not fit

    def take_over(self, state: Mapping[str, Any]) -> None:
        """Load weights and optimiser states from the state dict of a learner."""
        self.policy.load_weights(state["policy"], state["version"])
        self.policy_optimiser.load_state_dict(state["policy_optimiser"])
        self.critic_optimiser.load_state_dict(state["critic_optimiser"])

    def score_batch(self, batch: Batch) -> BatchScores:
        """Score every step with the current policy and critic."""
        with torch.no_grad():
            return self._batch_scores(batch, list(self._scored_turns(batch)))

    def score_for_step(self, batch: Batch) -> tuple[BatchScores, ScoredTurns | None]:
        """Score like `score_batch`; if all activations fit, also return scores with gradients."""
        scored = self._scored_in_one_pass(batch)
        if scored is None:
            return self.score_batch(batch), None
        with torch.no_grad():
            return self._batch_scores(batch, scored), scored

    def _scored_in_one_pass(self, batch: Batch) -> ScoredTurns | None:
        """Score all turns with gradients; return None if their activations do not fit."""
        if len(batch.turns) > self._one_pass_turns:
            return None
        scored: ScoredTurns = []
        before, total, done = self.memory.in_use(), len(self._slice(len(batch.turns))), 0
        try:
            for turns, scores in self._scored_turns(batch):
                scored.append((turns, scores))
                done += len(turns)
                if not self.memory.fits(total, done, before):
                    return None
        except torch.cuda.OutOfMemoryError as error:
            self._refuse_one_pass(batch, error)
            return None
        return scored

    def _batch_scores(self, batch: Batch, scored: ScoredTurns) -> BatchScores:
        finals = self._final_values(batch)
        heads = ((turns, scores.value_logits) for turns, scores in scored)
        lowest = ((turns, minimum_of_heads(logits.sigmoid())) for turns, logits in heads)
        steps = batch.scatter(self._gathered(batch, lowest))  # [b, t]
        values = torch.cat([steps, torch.zeros_like(steps[:, :1])], dim=1)
        values[torch.arange(len(finals)), batch.mask.sum(dim=1)] = finals.to(values.dtype)
        log_probs = ((turns, scores.log_probs) for turns, scores in scored)
        entropies = ((turns, scores.entropies) for turns, scores in scored)
        return BatchScores(
            log_probs=batch.scatter(self._gathered(batch, log_probs, batch.shape[2])),
            entropies=batch.scatter(self._gathered(batch, entropies, batch.shape[2])),
            values=values,
        )

    def log_probs_of(self, policy: ReferencePolicy, batch: Batch) -> Tensor:  # [b, t, k]
        """Return the log-probabilities that another policy gives to the same answers."""
        with torch.no_grad():
            found = [
                (turns, _score(policy, batch, turns).log_probs)
                for turns in self._micro_batches(batch)
            ]
        return batch.scatter(self._gathered(batch, found, batch.shape[2]))

    def step(
        self,
        batch: Batch,
        loss: TurnLoss,
        *,
        policy_moves: bool = True,
        scored: ScoredTurns | None = None,  # by the current weights; emptied here
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Take one optimiser step; return the losses and the norms of the gradients."""
        sums = self._gradients(batch, loss, scored)
        while sums is None:  # out of memory: retry, now that the activations are freed
            sums = self._gradients(batch, loss, None)
        self.process_group.all_reduce_gradients([*self.policy_parameters, *self.critic_parameters])
        totals = self.process_group.sum_by_name({name: float(sums[name]) for name in sums})
        norms = {
            "policy": _clipped(self.policy_parameters, self.settings.clip),
            "critic": _clipped(self.critic_parameters, self.settings.critic_clip),
        }
        _check_finite(totals, norms)
        if policy_moves:
            _move(self.policy_optimiser, self.policy_parameters)
        _move(self.critic_optimiser, self.critic_parameters)
        return totals, norms

    def _gradients(
        self, batch: Batch, loss: TurnLoss, scored: ScoredTurns | None
    ) -> dict[str, Tensor] | None:
        """Compute gradients and losses; return None to retry after an out-of-memory error."""
        try:
            return self._accumulated(batch, loss, scored)
        except torch.cuda.OutOfMemoryError as error:
            if scored is not None:
                scored.clear()
                self._refuse_one_pass(batch, error)
            elif not self._start_checkpointing(error):
                raise
            return None

    def _accumulated(
        self, batch: Batch, loss: TurnLoss, scored: ScoredTurns | None
    ) -> dict[str, Tensor]:
        self.policy_optimiser.zero_grad(set_to_none=True)
        self.critic_optimiser.zero_grad(set_to_none=True)
        sums: dict[str, Tensor] = {}  # read at the end, so that the GPU is not synchronised
        for turns, scores in self._scored_turns(batch) if scored is None else _consumed(scored):
            self.between()
            losses = loss(scores, turns)
            torch.autograd.backward(torch.stack(list(losses.values())).sum())
            for name, value in losses.items():
                sums[name] = sums.get(name, 0.0) + value.detach().double()
        return sums

    def _refuse_one_pass(self, batch: Batch, error: torch.cuda.OutOfMemoryError) -> None:
        self._one_pass_turns = len(batch.turns) - 1
        log.warning(
            "the activations of %d turns do not fit; two passes for as many: %s",
            len(batch.turns),
            error,
        )

    def _start_checkpointing(self, error: torch.cuda.OutOfMemoryError) -> bool:
        policy: object = self.policy
        if not (isinstance(policy, SupportsCheckpointing) and policy.start_checkpointing()):
            return False
        self.memory.forget()
        self._one_pass_turns = self.settings.one_pass_turns
        log.warning("a micro-batch does not fit; gradient checkpointing from now on: %s", error)
        return True

    def _scored_turns(self, batch: Batch) -> Iterator[tuple[Tensor, Scores]]:
        for turns in self._micro_batches(batch):
            self.between()
            with self.memory.measured(len(turns)) if torch.is_grad_enabled() else nullcontext():
                scores = _score(self.policy, batch, turns)
            yield turns, scores

    def _final_values(self, batch: Batch) -> Tensor:  # [b]
        """Return the values of the last screens of truncated trajectories, 0 for the others."""
        cut = batch.bootstrap.nonzero().flatten().tolist()
        mine = [cut[place] for place in self._slice(len(cut))]
        values = torch.zeros(len(batch.finals), dtype=torch.float64)
        for start in range(0, len(mine), self.settings.micro_batch_turns):
            rows = mine[start : start + self.settings.micro_batch_turns]
            logits = self.policy.value_logits([batch.finals[row] for row in rows])
            values[rows] = minimum_of_heads(logits.sigmoid()).to(values)
        return self.process_group.all_reduce(values)

    def _slice(self, n: int) -> range:
        """Return this rank's slice of `n` items: contiguous, as neighbours have similar lengths."""
        rank, size = self.process_group.rank, self.process_group.size
        return range(rank * n // size, (rank + 1) * n // size)

    def _gathered(self, batch: Batch, found: Found, width: int | None = None) -> Tensor:
        """Collect the results of all ranks for every turn: [n] or [n, width]."""
        shape = (len(batch.turns),) if width is None else (len(batch.turns), width)
        kind = torch.promote_types(self.policy_parameters[0].dtype, torch.float32)
        whole = torch.zeros(shape, dtype=kind)
        for turns, each in found:
            padding = 0 if width is None else width - each.shape[1]
            whole[turns] = torch.nn.functional.pad(each.to(whole), (0, padding))
        return self.process_group.all_reduce(whole)

    def _max_turns(self) -> int:
        return self.memory.max_turns(self.settings.micro_batch_turns)

    def _micro_batches(self, batch: Batch) -> Iterator[Tensor]:
        """Yield this rank's turns in order, in micro-batches within the limits of the settings."""
        mine = self._slice(len(batch.turns))
        first, widest, most = mine.start, 0, self._max_turns()
        for place in mine:
            width = len(batch.turns[place].token_ids)
            wider = max(widest, width)
            turns = place + 1 - first
            full = turns > most
            if place > first and (full or turns * wider > self.settings.micro_batch_tokens):
                yield torch.arange(first, place)
                first, wider, most = place, width, self._max_turns()
            widest = wider
        if mine:
            yield torch.arange(first, mine.stop)


def autocast(precision: Precision, device: torch.device) -> AbstractContextManager[object]:
    """Run the model's forward passes in this precision; the weights keep theirs."""
    if precision == "full":
        return nullcontext()
    # No cache: it would reuse bf16 copies of weights that were cast in `score_batch` (no_grad), or
    # before the optimiser step, in a later pass, whose gradient would be missing or outdated.
    return torch.autocast(device.type, dtype=torch.bfloat16, cache_enabled=False)


def _score(policy: ReferencePolicy, batch: Batch, turns: Tensor) -> Scores:
    chosen = [batch.turns[index] for index in turns.tolist()]
    return policy.score([turn.observation for turn in chosen], [turn.token_ids for turn in chosen])


def _consumed(scored: ScoredTurns) -> Iterator[tuple[Tensor, Scores]]:
    """Yield each item once and drop it, so that its activations are freed after `backward`."""
    scored.reverse()
    while scored:
        yield scored.pop()


def _optimiser(parameters: list[Parameter], rate: float, decay: float) -> torch.optim.AdamW:
    """Return a fused AdamW: one pass over the weights, not a dozen; 11 times as fast on a CPU."""
    return torch.optim.AdamW(parameters, lr=rate, weight_decay=decay, fused=True)


def _move(optimiser: torch.optim.AdamW, parameters: list[Parameter]) -> None:
    optimiser.step()
    for parameter in parameters:  # fused steps do not do this, and caches rely on it
        torch.autograd.graph.increment_version(parameter)


def _clipped(parameters: list[Parameter], most: float) -> float:
    return float(torch.nn.utils.clip_grad_norm_(parameters, most))


def _check_finite(losses: dict[str, float], norms: dict[str, float]) -> None:
    if not all(math.isfinite(norm) for norm in norms.values()):
        raise FloatingPointError(
            f"the gradient is no number (norms {norms}, losses {losses}); nothing was moved: "
            "look for log-probabilities of -inf or values that are NaN in this batch"
        )
