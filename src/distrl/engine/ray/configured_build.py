"""How a collector on a cluster is built: as the settings have it, by the wiring of all engines.

Where each node has one policy for all (`engine.policy`), the collector opens no model: it asks the
server of its node, which may come later than the collector does.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from distrl.config.training_config import TrainingConfig
from distrl.engine.ray.policy_client import PolicyClient
from distrl.engine.supervision.collector_registry import CollectorInfo
from distrl.episodes.collector import Collector, TrajectorySink
from distrl.episodes.scheduler import Admission
from distrl.weights.weight_updater import WeightSource


class ConfiguredBuild:
    """Builds collectors as the settings have it (`wiring`)."""

    def __init__(self, config: TrainingConfig, run: str) -> None:
        self._config = config
        self._run = run

    def __call__(
        self,
        info: CollectorInfo,
        sink: TrajectorySink,
        weights: WeightSource,
        admission: Admission,
        opened: ExitStack,
    ) -> Collector[Any]:
        from distrl.agent.torch_device import use_threads  # loads torch, and only there
        from distrl.engine.wiring import build_collector

        logs = Path(self._run) / "logs"  # of emulators, on the node where they are
        logs.mkdir(parents=True, exist_ok=True)
        policy_client = self._policy_client(info) if self._config.engine.policy == "node" else None
        use_threads(self._config.collection.threads)
        return build_collector(
            self._config,
            info.name,
            info.number,
            sink=sink,
            weights=weights,
            admission=admission,
            opened=opened,
            logs=logs,
            batcher=policy_client,
        )

    def _policy_client(self, info: CollectorInfo) -> PolicyClient:
        from distrl.engine.ray.policy_server_actor import find_server

        return PolicyClient(info.name, partial(find_server, self._run, info.place))
