"""What runs a training run: this machine alone, or a Ray cluster, and what goes where on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from distrl.bounds import Bounds, check_bounds
from distrl.errors import InvalidSetting

EngineKind = Literal["local", "ray"]
PolicyHolder = Literal["collector", "node"]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The engine; all but `kind` is for Ray. A run of the local engine needs none of it."""

    kind: EngineKind = "local"
    address: str = ""  # of a Ray cluster: host:port, or auto; none: a private one on this machine
    phones: str = "auto"  # the resource of nodes with phones; auto: phone, or CPUs if none has it
    policy: PolicyHolder = "collector"  # who has one; node: a server for all collectors of a node
    collector_gpus: Annotated[float, Bounds(0.0, 8.0, "GPUs for each collector's policy")] = 0.0
    server_gpus: Annotated[float, Bounds(0.0, 1.0, "of a GPU for each node's server")] = 1.0
    learner_restarts: Annotated[int, Bounds(0, 10_000, "restarts by Ray")] = 20
    shared_storage: bool = False  # run.directory is on a disk that every node sees

    def __post_init__(self) -> None:
        check_bounds(self)
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,60}", self.phones):
            raise InvalidSetting(f"phones={self.phones!r}; name a resource, such as phone")
        if self.policy == "node" and self.collector_gpus:
            raise InvalidSetting(
                f"collector_gpus={self.collector_gpus!r} with policy='node'; collectors have no "
                "policy then: give server_gpus instead"
            )
