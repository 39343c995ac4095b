"""Behaviour cloning: trains any `VlmPolicy` on demonstrations, through the code that it acts with.

Prompts are written and answers are tokenised as when the policy acts. The loss is minus the
log-probability that `score` gives the demonstrated answer. If the policy has adapters, only they
are trained, otherwise the whole model. The critic is not trained.

Worker processes play demonstrations and write them as prompts. Batches are drawn at random from the
newest `pool` samples, since steps of one episode are alike. Progress is measured on tasks of the
test split, as the probability of the demonstrated answer: how often sampling would give it.
(`imitation` is for the starter alone, and also trains its screen reader.)
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Annotated, Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from distrl.agent.prompt import Prompt, Prompter
from distrl.agent.vlm_policy import VlmPolicy
from distrl.bounds import Bounds, Checked, Meaning, Share
from distrl.errors import InvalidSetting
from distrl.imitation.sample_stream import SampleRecipe, endless_samples
from distrl.processor import bf16_obstacle
from distrl.records import Split
from phonesim.tasks.task_sets import template_names

VALIDATION_SEED = 77  # phones and texts that no training sample has


class PromptedAnswer(NamedTuple):
    """A prompt and the answer that a demonstration gives to it."""

    prompt: Prompt
    answer: str


@dataclass(frozen=True, slots=True)
class CloningSettings(Checked):
    """Settings; the defaults are for a language model of 135 M parameters on a GPU."""

    steps: Annotated[int, Bounds(1)] = 3000
    minutes: Annotated[float, Bounds(0.01, unit="minutes, then it ends before all steps")] = (
        math.inf
    )
    batch: Annotated[int, Bounds(1, unit="samples")] = 64
    micro_batch: Annotated[int, Bounds(1, unit="samples that go through the model at once")] = 64
    learning_rate: Annotated[float, Bounds(0.0, unit="at its highest")] = 2e-4
    warm_up: Annotated[int, Bounds(0, unit="steps")] = 100
    max_gradient: Annotated[float, Bounds(0.0, unit="(norm of the gradient)")] = 1.0
    pool: Annotated[int, Bounds(1, unit="samples to draw from")] = 4096
    processes: Annotated[int, Bounds(0, unit="that demonstrate; 0: this one")] = 8
    slip_rate: Share = 0.12
    fresh_words: Share = 0.5
    grounding: Share = 0.3
    shopping_weight: Annotated[int, Bounds(1)] = 2
    validation_set: Annotated[int, Bounds(1, unit="samples of the test split")] = 512
    validate_every: Annotated[int, Bounds(1, unit="steps")] = 500
    templates: tuple[str, ...] = ()  # the templates to demonstrate; empty: all of the train split
    precision: Annotated[
        Literal["auto", "full", "bf16"],
        Meaning("auto: bf16 on a GPU, full on a CPU; bf16 is quicker on one with AVX512-BF16"),
    ] = "auto"
    seed: int = 0


def settings_for(device: str, cores: int) -> CloningSettings:
    """Return the defaults for a GPU; for a CPU, a short run of a few steps, to try it out."""
    settings = CloningSettings(processes=min(8, max(1, cores - 1)))
    if device != "cpu":
        return settings
    return replace(
        settings,
        steps=50,
        batch=8,
        micro_batch=4,
        pool=256,
        processes=0,
        validation_set=16,
        validate_every=25,
    )


@dataclass(frozen=True, slots=True)
class CloningProgress:
    """A point of the learning curve."""

    step: int
    seconds: float
    tokens: int  # tokens trained on so far
    waited: float  # seconds spent waiting for demonstrations
    loss: float  # nats per answer
    validation: float | None = None  # mean probability of the demonstrated answer


class Demonstrations(IterableDataset[PromptedAnswer]):
    """An endless stream of demonstrations, as prompts; each worker plays its own tasks."""

    def __init__(self, recipe: SampleRecipe, prompter: Prompter) -> None:
        self.recipe = recipe
        self.prompter = prompter

    def __iter__(self) -> Iterator[PromptedAnswer]:
        worker = get_worker_info()
        for sample in endless_samples(self.recipe, worker.id if worker else 0):
            answer = self.prompter.answer(sample.action, sample.observation)
            yield PromptedAnswer(self.prompter.write(sample.observation), answer)


def clone(
    policy: VlmPolicy,
    settings: CloningSettings,
    seen: Callable[[CloningProgress], None] = lambda progress: None,
) -> list[CloningProgress]:
    """Train the policy in place; call `seen` with each point of the learning curve; return it."""
    recipe = _recipe(settings, policy)
    held_out = replace(
        recipe, split="test", slip_rate=0.0, fresh_words=0.0, grounding=0.0, seed=VALIDATION_SEED
    )
    validation = list(islice(Demonstrations(held_out, policy.prompter), settings.validation_set))
    cloning = Cloning(policy, settings)
    curve: list[CloningProgress] = []
    samples = _loader(Demonstrations(recipe, policy.prompter), settings)
    for step in range(1, settings.steps + 1):
        loss = cloning.step(cloning.next_of(samples), step)
        last = cloning.share_done(step) >= 1.0
        validate = last or step % settings.validate_every == 0
        if validate or step % 20 == 0:
            right = cloning.validate(validation) if validate else None
            curve.append(cloning.progress(step, float(loss), right))
            seen(curve[-1])
        if last:
            break
    return curve


class Cloning:
    """One run of behaviour cloning."""

    def __init__(self, policy: VlmPolicy, settings: CloningSettings) -> None:
        self.policy = policy
        self.settings = settings
        self._parameters = list(policy.policy_parameters())
        self._optimizer = torch.optim.AdamW(
            self._parameters, lr=settings.learning_rate, betas=(0.9, 0.98), weight_decay=0.0
        )
        self._began = time.monotonic()
        self._waited = 0.0
        self._autocast = _autocast(policy.device, settings.precision)
        policy.sampling = replace(policy.sampling, temperature=1.0)

    def next_of(self, samples: Iterator[list[PromptedAnswer]]) -> list[PromptedAnswer]:
        """Return the next batch, and add the time until it arrives to the waiting time."""
        asked = time.monotonic()
        batch = next(samples)
        self._waited += time.monotonic() - asked
        return batch

    def share_done(self, step: int) -> float:
        """Return the fraction done, of the steps or of the minutes, whichever is larger."""
        minutes = (time.monotonic() - self._began) / 60
        return max(step / self.settings.steps, minutes / self.settings.minutes)

    def step(self, samples: Sequence[PromptedAnswer], number: int) -> Tensor:
        """Do one optimiser step; return the mean loss of an answer, [], without waiting for the
        GPU: it may still compute while the next prompts are written.
        """
        for group in self._optimizer.param_groups:
            group["lr"] = self._learning_rate(number)
        self._optimizer.zero_grad()
        total = torch.zeros((), device=self.policy.device)
        for some in _chunks(samples, self.settings.micro_batch):
            loss = -self._log_probs(some).sum() / len(samples)
            torch.autograd.backward(loss)
            total += loss.detach()
        torch.nn.utils.clip_grad_norm_(self._parameters, self.settings.max_gradient)
        self._optimizer.step()
        return total

    @torch.no_grad()
    def validate(self, samples: Sequence[PromptedAnswer]) -> float:
        """Return the mean probability of the demonstrated answers."""
        chunks = _chunks(samples, self.settings.micro_batch)
        return float(torch.cat([self._log_probs(some).exp() for some in chunks]).mean())

    def progress(self, step: int, loss: float, validation: float | None) -> CloningProgress:
        seconds = time.monotonic() - self._began
        tokens = self.policy.training_tokens
        return CloningProgress(step, seconds, tokens, self._waited, loss, validation)

    def _log_probs(self, samples: Sequence[PromptedAnswer]) -> Tensor:  # [n], of whole answers
        answers = [self.policy.builder.answers.encode(each.answer) for each in samples]
        with self._autocast:
            scores = self.policy.score_prompts([each.prompt for each in samples], answers)
        return (scores.log_probs * scores.token_mask).sum(1)

    def _learning_rate(self, step: int) -> float:
        """Linear warm-up, then cosine decay to a hundredth of the highest rate."""
        settings = self.settings
        if step < settings.warm_up:
            return settings.learning_rate * step / settings.warm_up
        first = settings.warm_up / settings.steps
        done = min(1.0, (self.share_done(step) - first) / max(1e-9, 1.0 - first))
        return settings.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))


def _recipe(settings: CloningSettings, policy: VlmPolicy) -> SampleRecipe:
    general = template_names("train", "general")
    shopping = template_names("train", "shopping") * settings.shopping_weight
    return SampleRecipe(
        templates=settings.templates or (*general, *shopping),
        elements=policy.reads_elements,
        slip_rate=settings.slip_rate,
        fresh_words=settings.fresh_words,
        grounding=settings.grounding,
        seed=settings.seed,
    )


def _loader(
    demonstrations: Demonstrations, settings: CloningSettings
) -> Iterator[list[PromptedAnswer]]:
    """Yield random batches from a ring buffer, into which a batch of new samples goes each time."""
    options: dict[str, Any] = {}
    if settings.processes:
        options = {"multiprocessing_context": "fork", "prefetch_factor": 4}
    loader: DataLoader[Any] = DataLoader(
        demonstrations,
        batch_size=settings.batch,
        collate_fn=list,
        num_workers=settings.processes,
        **options,
    )
    rng, pool = random.Random(f"cloning/{settings.seed}"), list[PromptedAnswer]()
    for number, fresh in zip(count(), loader, strict=False):
        if len(pool) < settings.pool:
            pool.extend(fresh)
        else:
            at = number * settings.batch % settings.pool
            pool[at : at + len(fresh)] = fresh
        if len(pool) >= min(settings.pool, 4 * settings.batch):
            yield rng.choices(pool, k=settings.batch)


def _chunks(samples: Sequence[PromptedAnswer], size: int) -> list[Sequence[PromptedAnswer]]:
    """Split samples into chunks of similar prompt length, to save padding."""
    alike = sorted(samples, key=lambda each: len(each.prompt.text))
    return [alike[first : first + size] for first in range(0, len(alike), size)]


def _autocast(
    device: torch.device, precision: Literal["auto", "full", "bf16"]
) -> AbstractContextManager[object]:
    """Return the autocast context; raise `InvalidSetting` for bf16 on an unsuitable CPU."""
    on_cpu = device.type == "cpu"
    if precision == "full" or (precision == "auto" and on_cpu):
        return nullcontext()
    if on_cpu and (obstacle := bf16_obstacle()):
        raise InvalidSetting(f'precision="bf16" on the CPU: {obstacle}; give full')
    return torch.autocast(device.type, torch.bfloat16)


def demonstrated(split: Split, count_of: int, prompter: Prompter) -> list[PromptedAnswer]:
    """Return `count_of` demonstrated answers of a split, without slips, for evaluation."""
    recipe = SampleRecipe(
        tuple(template_names(split)), elements=prompter.reads_elements, split=split, slip_rate=0.0
    )
    return list(islice(Demonstrations(recipe, prompter), count_of))
