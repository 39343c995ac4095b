"""Who works on an update: one process alone, or several that share the turns of each batch.

One of a team leads: it has the learner, with the replay, the publisher and the checkpoints. The
others only follow: they hold the same weights, hear from the leader which batch comes next
(`Assignment`), score their share of its turns and add up what they found with everybody else. All
of them then take the same step, so that the weights stay the same everywhere. `GradientStep` is
where the shares and the sums are; `SingleProcess` is the team of who needs no other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor
from torch.nn import Parameter

from distrl.learning.batch import Batch


@dataclass(frozen=True, slots=True, eq=False)
class UpdateTogether:
    """Update on this batch."""

    batch: Batch
    policy_moves: bool


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTogether:
    """Say what the policy thinks of this batch."""

    batch: Batch


@dataclass(frozen=True, slots=True, eq=False)
class SyncState:
    """Become what the leader is: its weights and the states of its optimisers, as `state_tree`
    splits them, so that no tensor is bound to the leader's own GPU.
    """

    tree: Any
    tensors: dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Shutdown:
    """There is nothing more to do."""


Assignment = UpdateTogether | ScoreTogether | SyncState | Shutdown


class ProcessGroup(Protocol):
    """Some processes, this one among them. What says "all" is called by all, in the same order."""

    @property
    def place(self) -> int:
        """Of this process, from 0; the leader is 0."""
        ...

    @property
    def size(self) -> int: ...

    def assign(self, assignment: Assignment) -> None:
        """The leader's word; the others take it with `SeveralGpus.next_assignment`."""
        ...

    def added_up(self, tensor: Tensor) -> Tensor:
        """The sum over all processes, of tensors of one shape; where this one's tensor is."""
        ...

    def add_gradients(self, parameters: Sequence[Parameter]) -> None:
        """Give each parameter the sum of its gradients over all; None where nobody has one."""
        ...

    def merged(self, figures: Mapping[str, float]) -> dict[str, float]:
        """The sums over all by name; who does not have a name adds nothing to it."""
        ...


class SingleProcess:
    """One process. Implements `ProcessGroup`."""

    place, size = 0, 1

    def assign(self, assignment: Assignment) -> None: ...

    def added_up(self, tensor: Tensor) -> Tensor:
        return tensor

    def add_gradients(self, parameters: Sequence[Parameter]) -> None: ...

    def merged(self, figures: Mapping[str, float]) -> dict[str, float]:
        return dict(figures)
