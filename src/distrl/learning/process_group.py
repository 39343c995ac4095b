"""The processes that compute one update: a single one, or several ranks that share each batch.

Rank 0 is the leader: it owns the learner with its replay, publisher and checkpoints. The other
ranks follow (`data_parallel.follow`): they hold the same weights, receive each batch as a
`WorkItem`, score their slice of its turns and all-reduce the results. Every rank then takes the
same optimiser step, so the weights stay equal. `GradientStep` computes the slices and calls the
sums; `SingleProcess` is the group of a learner that needs no other process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor
from torch.nn import Parameter

from distrl.learning.batch import Batch


@dataclass(frozen=True, slots=True, eq=False)
class UpdateBatch:
    """Run the algorithm's update on this batch."""

    batch: Batch
    policy_moves: bool


@dataclass(frozen=True, slots=True, eq=False)
class ScoreBatch:
    """Score this batch without gradients."""

    batch: Batch


@dataclass(frozen=True, slots=True, eq=False)
class SyncState:
    """Load the leader's weights and optimiser states.

    `checkpoint.split` made them, so no tensor is bound to the leader's GPU.
    """

    tree: Any
    tensors: dict[str, Tensor]


WorkItem = UpdateBatch | ScoreBatch | SyncState


class ProcessGroup(Protocol):
    """The ranks of one update, this process included.

    All ranks must call the collective operations (the sums) in the same order.
    """

    @property
    def rank(self) -> int:
        """The rank of this process, from 0; the leader is 0."""
        ...

    @property
    def size(self) -> int: ...

    def send(self, item: WorkItem) -> None:
        """Broadcast a work item from the leader to the followers."""
        ...

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """Sum tensors of one shape over all ranks; the result is on the tensor's own device."""
        ...

    def all_reduce_gradients(self, parameters: Sequence[Parameter]) -> None:
        """Sum each parameter's gradient over all ranks; it stays None if no rank has one."""
        ...

    def sum_by_name(self, figures: Mapping[str, float]) -> dict[str, float]:
        """Sum figures over all ranks by name; a rank without a name adds nothing to it."""
        ...


class SingleProcess:
    """Implements `ProcessGroup`: one process."""

    rank, size = 0, 1

    def send(self, item: WorkItem) -> None: ...

    def all_reduce(self, tensor: Tensor) -> Tensor:
        return tensor

    def all_reduce_gradients(self, parameters: Sequence[Parameter]) -> None: ...

    def sum_by_name(self, figures: Mapping[str, float]) -> dict[str, float]:
        return dict(figures)
