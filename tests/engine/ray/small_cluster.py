"""Several Ray nodes on this machine, and ways to do harm to what runs on them."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

STORE_BYTES = 90 << 20


class SmallCluster:
    """A context manager; ray is imported when it is entered, for it reads the environment then."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes: list[Any] = []
        self._old_logs: set[Path] = set()
        self._cluster: Any = None

    def __enter__(self) -> Self:
        os.environ["RAY_TMPDIR"] = str(self.folder)
        import ray
        from ray.cluster_utils import Cluster

        self._cluster = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 2,
                "object_store_memory": STORE_BYTES,
                "include_dashboard": False,
                "temp_dir": str(self.folder / "ray"),
            },
        )
        ray.init(address=self._cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import ray

        ray.shutdown()
        self._cluster.shutdown()

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self, phones: float, gpus: int = 0) -> Any:
        """A node with so many phones; nobody looks whether it has the GPUs."""
        node = self._cluster.add_node(
            num_cpus=1,
            num_gpus=gpus,
            resources={"phone": phones} if phones else {},
            object_store_memory=STORE_BYTES,
        )
        self.nodes.append(node)
        return node

    def kill(self, node: Any) -> None:
        """All processes of the node at once, as when its plug is pulled."""
        there = self.pids("RayCollector", node.node_id)
        self.nodes.remove(node)
        self._cluster.remove_node(node, allow_graceful=False)
        for pid in there:
            kill(pid)

    def remove_all(self) -> None:
        """The nodes, and from now on what was acknowledged on them: the next test has its own."""
        while self.nodes:
            self._cluster.remove_node(self.nodes.pop(), allow_graceful=True)
        self._old_logs |= set(self._logs("*"))

    def pids(self, actor: str, node_id: str = "") -> list[int]:
        """The processes of living actors of that class, on one node or on all."""
        from ray._private.state import actors

        return [
            int(each["Pid"])
            for each in actors().values()
            if each["State"] == "ALIVE"
            and each["ActorClassName"] == actor
            and each["Address"]["NodeID"].startswith(node_id)
            and each["Pid"]
        ]

    def acknowledged(self, pid: int | None = None) -> list[str]:
        """What collectors were told is stored, by the logs of their own processes, or of one."""
        logs = sorted(set(self._logs(pid or "*")) - self._old_logs)
        found = (log.read_text("utf-8", "replace") for log in logs)
        return [name for text in found for name in re.findall(r"acknowledged (\S+)", text)]

    def _logs(self, pid: int | str) -> Iterator[Path]:
        return self.folder.glob(f"ray/session_2*/logs/worker-*-{pid}.err")


def kill(pid: int) -> None:
    """As the kernel does it when memory runs out."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
