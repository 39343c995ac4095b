"""Trains the starter model on demonstrations, from random weights.

Samples stream in from scripted demonstrations (`sample_stream`), are kept in a ring buffer
(`SampleReservoir`), and are drawn in random batches. The saved weights are an exponential moving
average (EMA) of the trained ones: less noisy, and a little better. The learning curve (losses, and
the fraction of right actions on a validation set from the test split) is passed on as it is
measured, so that it can be saved beside the model.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import torch
from torch import Tensor

from distrl.agent.starter.model import StarterModel
from distrl.bounds import Bounds, Share, check_bounds
from distrl.errors import InvalidSetting
from distrl.imitation.losses import ImitationLosses, imitation_losses
from distrl.imitation.sample_arrays import SHAPES, SampleReservoir
from distrl.imitation.sample_stream import SLAB, SampleRecipe, SampleStream, open_stream
from phonesim.tasks.task_sets import template_names

Count = Annotated[int, Bounds(1)]
NOTE_EVERY, NOTE_SECONDS = 50, 10.0  # steps or seconds between points of the curve


@dataclass(frozen=True, slots=True)
class ImitationSettings:
    """Settings; the defaults are about those of the shipped model (docs/starter.md)."""

    steps: Count = 14_000
    batch: Annotated[int, Bounds(1, unit="samples")] = 256
    learning_rate: Annotated[float, Bounds(0.0, unit="at its highest")] = 1e-3
    warm_up: Annotated[int, Bounds(0, unit="steps")] = 200
    weight_decay: Annotated[float, Bounds(0.0)] = 0.01
    max_gradient: Annotated[float, Bounds(0.0, unit="(norm of the gradient)")] = 1.0
    averaging: Share = 0.999  # EMA decay of the weights, per step
    reservoir: Annotated[int, Bounds(1, unit=f"samples, a multiple of {SLAB}")] = 49_152
    fill: Annotated[int, Bounds(1, unit="samples before the first step")] = 4_096
    processes: Count = 14
    slip_rate: Share = 0.12
    fresh_words: Share = 0.5  # fraction of demonstrated tasks that use made-up texts
    grounding: Share = 0.4  # fraction of episodes that are walks (`Demonstrator.ground`)
    freeze_encoder: bool = False  # train only the decoder
    shopping_weight: int = 2  # sampling weight of a shopping template, relative to a general one
    validation_set: Annotated[int, Bounds(1, unit="samples of the test split")] = 2_048
    validate_every: Annotated[int, Bounds(1, unit="steps")] = 500
    enough: Share = 1.0  # stop early once this share of the validation set is right
    seed: int = 0

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.reservoir % SLAB:
            raise InvalidSetting(
                f"imitation.reservoir={self.reservoir!r}; give a multiple of {SLAB}: samples come "
                "in slabs of that many"
            )


@dataclass(frozen=True, slots=True)
class Progress:
    """A point of the learning curve."""

    step: int
    seconds: float
    samples: int  # generated so far
    action_loss: float
    reading_loss: float
    right_signs: float
    right_actions: float  # of the last batch
    validation: float | None = None  # fraction of right actions on the test split, EMA weights
    by_word: dict[str, float] = field(default_factory=dict)


def recipe_of(settings: ImitationSettings, model: StarterModel) -> SampleRecipe:
    """Return a recipe of all training templates, the shopping ones weighted."""
    general = template_names("train", "general")
    shopping = template_names("train", "shopping") * settings.shopping_weight
    return SampleRecipe(
        templates=(*general, *shopping),
        signs=tuple(model.config.signs),
        slip_rate=settings.slip_rate,
        fresh_words=settings.fresh_words,
        grounding=settings.grounding,
        seed=settings.seed,
    )


class Imitation:
    """One training run. `run` does its steps; `averaged` are the EMA weights, to be saved."""

    def __init__(
        self,
        model: StarterModel,
        settings: ImitationSettings,
        seen: Callable[[Progress], None] = lambda progress: None,
        keep: Callable[[StarterModel], None] = lambda averaged: None,
    ) -> None:
        """`seen` gets each point of the curve, `keep` the EMA model after each validation."""
        self.model = model
        self.settings = settings
        self.device = next(model.parameters()).device
        self._trained: list[Tensor] = [each for each in model.parameters() if each.requires_grad]
        self.masters = [each.detach().float().clone() for each in self._trained]
        self.averaged = [master.clone() for master in self.masters]
        self._seen = seen
        self._keep = keep
        for master in self.masters:
            master.grad = torch.zeros_like(master)
        self._optimizer = torch.optim.AdamW(
            self.masters,
            lr=torch.tensor(settings.learning_rate, device=self.device),
            betas=(0.9, 0.98),
            weight_decay=settings.weight_decay,
            fused=True,
            capturable=self.device.type == "cuda",
        )
        self._graph: torch.cuda.CUDAGraph | None = None
        self._batch: dict[str, Tensor] = {}
        self._losses: ImitationLosses
        self._generator = torch.Generator(self.device).manual_seed(settings.seed)
        self._began = self._noted = time.monotonic()
        self._step = 0
        self._best = 0.0  # best validation result so far

    def run(self, stream: SampleStream, validation_set: dict[str, Tensor]) -> None:
        reservoir = SampleReservoir(self.settings.reservoir, self.device)
        while len(reservoir) < min(self.settings.fill, self.settings.reservoir):
            _transfer(stream, reservoir, wait=True)
        while self._step < self.settings.steps and self._best < self.settings.enough:
            _transfer(stream, reservoir, wait=False)
            self._train_step(reservoir, validation_set)

    def _train_step(self, reservoir: SampleReservoir, validation_set: dict[str, Tensor]) -> None:
        for group in self._optimizer.param_groups:
            group["lr"].fill_(self._learning_rate())
        batch = reservoir.draw(self.settings.batch, self._generator)
        if self.device.type == "cuda":
            self._replay(batch)
        else:
            self._losses = self._train(batch)
        self._step += 1
        self._average()
        overdue = time.monotonic() - self._noted > NOTE_SECONDS
        last = self._step == self.settings.steps
        validate = last or self._step % self.settings.validate_every == 0
        if self._step % NOTE_EVERY and not validate and not overdue:
            return
        losses = self._losses
        measured = self.validate(validation_set) if validate else (None, {})
        reading = losses.ink + losses.starts + losses.signs
        self._noted = time.monotonic()
        self._seen(
            Progress(
                self._step,
                time.monotonic() - self._began,
                reservoir.seen,
                float(losses.action.detach()),
                float(reading.detach()),
                float(losses.right_signs),
                float(losses.right_actions.float().mean()),
                *measured,
            )
        )

    def _learning_rate(self) -> float:
        """Linear warm-up, then cosine decay to a hundredth of the highest rate."""
        settings = self.settings
        if self._step < settings.warm_up:
            return settings.learning_rate * (self._step + 1) / settings.warm_up
        done = (self._step - settings.warm_up) / max(1, settings.steps - settings.warm_up)
        return settings.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))

    def _train(self, batch: dict[str, Tensor]) -> ImitationLosses:
        losses = imitation_losses(self.model, batch)
        self.model.zero_grad()
        torch.autograd.backward(losses.total)
        self._optimize()
        return losses

    def _replay(self, batch: dict[str, Tensor]) -> None:
        """Train by replaying a CUDA graph: a step is two thousand small kernel launches without."""
        if self._graph is None:
            self._record(batch)
            return
        for name, tensor in self._batch.items():
            tensor.copy_(batch[name])
        self._graph.replay()

    def _record(self, batch: dict[str, Tensor]) -> None:
        """Capture the CUDA graph, after a few warm-up steps on a side stream, as capture needs."""
        self._batch = {name: tensor.clone() for name, tensor in batch.items()}
        stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._train(self._batch)
        torch.cuda.current_stream().wait_stream(stream)
        self.model.zero_grad()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._losses = self._train(self._batch)
        self._graph = graph

    @torch.no_grad()
    def _optimize(self) -> None:
        """Step the float32 master weights, then copy them to the model in its own dtype."""
        gradients = [_gradient(parameter) for parameter in self._trained]
        torch._foreach_copy_([_gradient(master) for master in self.masters], gradients)
        torch.nn.utils.clip_grad_norm_(self.masters, self.settings.max_gradient)
        self._optimizer.step()
        torch._foreach_copy_(self._trained, self.masters)

    @torch.no_grad()
    def _average(self) -> None:
        share = min(self.settings.averaging, (1 + self._step) / (10 + self._step))
        torch._foreach_lerp_(self.averaged, self.masters, 1.0 - share)

    @torch.no_grad()
    def take_average(self) -> None:
        """Copy the EMA weights into the model."""
        torch._foreach_copy_(self._trained, self.averaged)

    @torch.no_grad()
    def validate(self, validation_set: dict[str, Tensor]) -> tuple[float, dict[str, float]]:
        """Return the fraction of right actions with EMA weights, in all and by first word."""
        self.take_average()
        right = []
        for at in range(0, len(validation_set["answer"]), self.settings.batch):
            part = {
                name: tensor[at : at + self.settings.batch]
                for name, tensor in validation_set.items()
            }
            right.append(imitation_losses(self.model, part).right_actions)
        self._keep(self.model)
        torch._foreach_copy_(self._trained, self.masters)
        all_right = torch.cat(right).float()
        self._best = max(self._best, float(all_right.mean()))
        first = validation_set["answer"][:, 0]
        by_word = {
            str(word): float(all_right[first == word].mean())
            for word in sorted(set(first.tolist()))
        }
        return float(all_right.mean()), by_word


def _gradient(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def make_validation_set(
    recipe: SampleRecipe, count: int, processes: int, device: torch.device
) -> dict[str, Tensor]:
    """Generate about `count` samples of a recipe (rounded down to whole slabs)."""
    slab = max(1, min(64, count // processes))
    count = count // slab * slab
    reservoir = SampleReservoir(count, device)
    with open_stream(recipe, processes, slab) as stream:
        while len(reservoir) < count:
            _transfer(stream, reservoir, wait=True)
    return {name: reservoir.tensor(name) for name in SHAPES}


def _transfer(stream: SampleStream, reservoir: SampleReservoir, *, wait: bool) -> None:
    """Copy every slab that is ready into the reservoir; with `wait`, at least one."""
    while (taken := stream.take(wait=wait)) is not None:
        number, arrays = taken
        reservoir.add(arrays)
        if reservoir.device.type == "cuda":
            torch.cuda.current_stream().synchronize()  # finish the copy before the slab is reused
        stream.give_back(number)
        wait = False
