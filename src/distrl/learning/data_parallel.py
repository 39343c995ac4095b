"""Data-parallel learning: one process for each GPU, joined by torch.distributed.

Every rank holds the whole policy and computes its slice of each batch. Gradients are summed, not
averaged, because losses are sums over turns divided by totals of the whole batch; so an update of
many ranks equals that of one, up to rounding. Only rank 0 (the leader) samples, publishes and
writes. It sends work items to each follower through a pipe. A follower blocks on the pipe for as
long as the learner waits for trajectories, and exits when the pipe is closed. Work items are
pickled; they travel only between processes that the leader started. The sums use NCCL between GPUs
and gloo between CPUs.

`engine.run.follower_processes` starts the followers. We considered Accelerate: it launches whole
scripts and hides the process group, of which we need only the three sums of `ProcessGroup`.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import torch
from torch import Tensor, distributed
from torch.nn import Parameter

from distrl.errors import UsageError
from distrl.learning.algorithms.algorithm import Algorithm
from distrl.learning.checkpoint import join
from distrl.learning.gradient_step import GradientStep, autocast
from distrl.learning.learner_settings import Precision
from distrl.learning.process_group import ScoreBatch, SyncState, UpdateBatch, WorkItem

LOOPBACK = "127.0.0.1"
POLL_SECONDS = 1e-4  # between two polls of a pending sum
START_POLL_SECONDS = 0.1  # between two polls of a follower that starts
EXIT_SECONDS = 5.0  # for a follower's exit to be detected after its connection broke

CheckFollowers = Callable[[float], None]  # raises if a follower exits within that many seconds


class DataParallelGroup:
    """Implements `ProcessGroup`: the ranks of one learner.

    `connections`: on the leader one to each follower, on a follower the one to the leader.
    """

    def __init__(
        self,
        rank: int,
        size: int,
        device: str,  # of this rank's policy
        connections: Sequence[Connection],
        check_followers: CheckFollowers = lambda seconds: None,
    ) -> None:
        self.rank = rank
        self.size = size
        self.device = torch.device(device)
        self._connections = connections
        self._check_followers = check_followers

    def join(self) -> None:
        """Wait until every rank is ready, then build the group; each rank calls this once."""
        with self._follower_errors():
            if self.rank == 0:
                store = _store(0, is_master=True)
                for connection in self._connections:
                    while not connection.poll(START_POLL_SECONDS):
                        self._check_followers(0.0)
                    connection.recv_bytes()
                for connection in self._connections:
                    connection.send_bytes(str(store.port).encode())
            else:
                [leader] = self._connections
                leader.send_bytes(b"ready")
                store = _store(int(leader.recv_bytes()), is_master=False)
            on_gpu = self.device.type == "cuda"
            distributed.init_process_group(
                "nccl" if on_gpu else "gloo",
                store=store,
                rank=self.rank,
                world_size=self.size,
                device_id=self.device if on_gpu else None,
            )

    def leave(self) -> None:
        """Leave the group. When the leader leaves, followers that wait for work exit too."""
        for connection in self._connections:
            connection.close()
        if distributed.is_initialized():
            distributed.destroy_process_group()

    def send(self, item: WorkItem) -> None:
        if self.rank != 0:
            raise UsageError(
                f"rank {self.rank} of {self.size} sent a work item, and only rank 0 leads; call "
                "follow() in the other ranks, and let only the leader have a learner"
            )
        pickled = pickle.dumps(item)
        with self._follower_errors():
            for connection in self._connections:
                connection.send_bytes(pickled)

    def receive(self) -> WorkItem | None:
        """Wait for the leader's next work item; return None when the leader has left."""
        [leader] = self._connections
        try:
            item: WorkItem = pickle.loads(leader.recv_bytes())
        except (EOFError, ConnectionResetError):
            return None
        return item

    def all_reduce(self, tensor: Tensor) -> Tensor:
        summed = tensor.to(self.device, copy=True).contiguous()
        self._finish([distributed.all_reduce(summed, async_op=True)])
        return summed.to(tensor.device)

    def all_reduce_gradients(self, parameters: Sequence[Parameter]) -> None:
        holders = self.all_reduce(torch.tensor([float(p.grad is not None) for p in parameters]))
        sums = []
        for parameter, ranks in zip(parameters, holders.tolist(), strict=True):
            if ranks:
                own = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                parameter.grad = own.contiguous()
                sums.append(distributed.all_reduce(parameter.grad, async_op=True))
        self._finish(sums)

    def sum_by_name(self, figures: Mapping[str, float]) -> dict[str, float]:
        gathered: list[dict[str, float]] = [{}] * self.size
        with self._follower_errors():
            distributed.all_gather_object(gathered, dict(figures))
        summed: dict[str, float] = {}
        for each in gathered:
            for name, figure in each.items():
                summed[name] = summed.get(name, 0.0) + figure
        return summed

    def _finish(self, sums: Sequence[Any]) -> None:
        """Wait for sums. Polls, because NCCL would wait for a lost rank without an error."""
        with self._follower_errors():
            for each in sums:
                while not each.is_completed():
                    self._check_followers(0.0)
                    time.sleep(POLL_SECONDS)
                each.wait()

    @contextmanager
    def _follower_errors(self) -> Iterator[None]:
        """If an error inside was caused by the exit of a follower, raise the exit instead."""
        try:
            yield
        except (OSError, EOFError, RuntimeError):
            self._check_followers(EXIT_SECONDS)
            raise


def _store(port: int, *, is_master: bool) -> Any:
    """Open the TCPStore through which the ranks find each other; port 0 picks a free one."""
    made: Any = distributed  # its types do not list TCPStore
    return made.TCPStore(LOOPBACK, port, is_master=is_master, wait_for_workers=False)


def follow(
    algorithm: Algorithm,
    gradient_step: GradientStep,
    precision: Precision = "full",
) -> None:
    """Process work items until the leader leaves. Build the arguments exactly as the leader's."""
    group = gradient_step.process_group
    if not isinstance(group, DataParallelGroup):
        raise UsageError("follow() without a leader; give the step a DataParallelGroup")
    while (item := group.receive()) is not None:
        with autocast(precision, group.device):
            match item:
                case UpdateBatch(batch, policy_moves):
                    algorithm.update(batch, policy_moves=policy_moves)
                case ScoreBatch(batch):
                    gradient_step.score_batch(batch)
                case SyncState(tree, tensors):
                    gradient_step.take_over(join(tree, tensors))
