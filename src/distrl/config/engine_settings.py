"""What runs a training run: this machine alone, or a Ray cluster, and what goes where on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.errors import InvalidSetting

EngineKind = Literal["local", "ray"]
PolicyHolder = Literal["collector", "node"]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The engine; all but `kind` is for Ray. A run of the local engine needs none of it."""

    kind: EngineKind = "local"
    address: Annotated[
        str, Meaning("of a Ray cluster: host:port or auto; empty: a private one on this machine")
    ] = ""
    phones: Annotated[
        str,
        Meaning(
            "name of the Ray resource of nodes with phones; auto: phone, or CPUs if none has it",
            r"[A-Za-z][A-Za-z0-9_-]{0,60}",
        ),
    ] = "auto"
    policy: Annotated[
        PolicyHolder, Meaning("which process holds the policy; node: one for all its collectors")
    ] = "collector"
    collector_gpus: Annotated[float, Bounds(0.0, 8.0, "GPUs for each collector's policy")] = 0.0
    server_gpus: Annotated[float, Bounds(0.0, 1.0, "of a GPU for each node's server")] = 1.0
    shared_storage: Annotated[bool, Meaning("run.directory is on a disk that every node sees")] = (
        False
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.policy == "node" and self.collector_gpus:
            raise InvalidSetting(
                f"collector_gpus={self.collector_gpus!r} with policy='node'; collectors have no "
                "policy then: give server_gpus instead"
            )
