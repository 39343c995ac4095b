"""A learner on several GPUs: one process for each, started by `accelerate launch`.

    with SeveralGpus() as team:
        step = GradientStep(policy, settings, team)  # a policy on team.device
        algorithm = ARide(step)
        if team.leads:
            run(Learner(policy, algorithm, step, …))  # as with one process
            team.dismiss()
        else:
            follow(policy, algorithm, step, learner_settings.precision)

Every process has the whole policy and works on its share of each batch; gradients are summed, since
losses are sums over turns divided by totals of the whole batch. So a step of many processes is
that of one, but for rounding. Only the leader draws, publishes and writes. What it sends to the
others is pickled: they are processes of one program, started together, and take it from no one
else. Accelerate brings the processes together and does the sums (NCCL between GPUs, gloo between
CPUs); it is imported here alone, and one process needs none of it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import torch
from accelerate import Accelerator
from accelerate.utils import InitProcessGroupKwargs, broadcast_object_list, gather_object
from torch import Tensor
from torch.nn import Parameter

from distrl.agent.trainable_policy import TrainablePolicy
from distrl.errors import UsageError
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.gradient_step import GradientStep
from distrl.learning.learner import take_over
from distrl.learning.learner_settings import Precision
from distrl.learning.precision import autocast
from distrl.learning.process_group import (
    Assignment,
    ScoreTogether,
    Shutdown,
    SyncState,
    UpdateTogether,
)
from distrl.learning.state_tree import join

PATIENCE = dt.timedelta(days=1)  # the others wait while the leader waits for phones


class SeveralGpus:
    """The processes that were launched together. Implements `ProcessGroup`."""

    def __init__(self, *, cpu: bool = False) -> None:
        waiting = InitProcessGroupKwargs(timeout=PATIENCE)
        self.accelerator = Accelerator(cpu=cpu, kwargs_handlers=[waiting])

    @property
    def place(self) -> int:
        return int(self.accelerator.process_index)

    @property
    def size(self) -> int:
        return int(self.accelerator.num_processes)

    @property
    def leads(self) -> bool:
        return self.place == 0

    @property
    def device(self) -> torch.device:
        """Where this process has its policy."""
        return torch.device(self.accelerator.device)

    def assign(self, assignment: Assignment) -> None:
        if not self.leads:
            raise UsageError(
                f"process {self.place} of {self.size} gave an assignment, and only process 0 leads;"
                " call follow() in the others and keep the learner to the leader"
            )
        broadcast_object_list([assignment])

    def dismiss(self) -> None:
        """The leader's last word: the others come back from `follow`."""
        self.assign(Shutdown())

    def next_assignment(self) -> Assignment:
        """Wait for the leader's word."""
        heard: list[Assignment | None] = [None]
        broadcast_object_list(heard)
        [assignment] = heard
        assert assignment is not None, "a broadcast fills the list in"
        return assignment

    def added_up(self, tensor: Tensor) -> Tensor:
        summed: Tensor = self.accelerator.reduce(tensor.to(self.device), reduction="sum")
        return summed.to(tensor.device)

    def add_gradients(self, parameters: Sequence[Parameter]) -> None:
        holders = self.added_up(torch.tensor([float(p.grad is not None) for p in parameters]))
        for parameter, anybody in zip(parameters, holders.tolist(), strict=True):
            if anybody:
                own = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                parameter.grad = self.added_up(own)

    def merged(self, figures: Mapping[str, float]) -> dict[str, float]:
        merged: dict[str, float] = {}
        for each in gather_object([dict(figures)]):
            for name, figure in each.items():
                merged[name] = merged.get(name, 0.0) + figure
        return merged

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Parts at a good end. After an error the launcher ends all of them."""
        if kind is None:
            self.accelerator.end_training()


def follow(
    policy: TrainablePolicy,
    algorithm: Algorithm,
    gradient_step: GradientStep,
    precision: Precision = "full",
) -> None:
    """Do what the leader says until it dismisses this process; built as the leader's parts are."""
    process_group = gradient_step.process_group
    if not isinstance(process_group, SeveralGpus):
        raise UsageError("follow() without a team; build the gradient step with SeveralGpus")
    while True:
        match process_group.next_assignment():
            case UpdateTogether(batch, policy_moves):
                with autocast(precision, process_group.device):
                    algorithm.update(batch, policy_moves=policy_moves)
            case ScoreTogether(batch):
                with autocast(precision, process_group.device):
                    gradient_step.score_batch(batch)
            case SyncState(tree, tensors):
                take_over(policy, gradient_step, join(tree, tensors))
            case Shutdown():
                return
