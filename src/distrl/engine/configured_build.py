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
from distrl.engine.collector_office import Badge
from distrl.engine.node_desk import NodeDesk
from distrl.episodes.collector import Collector, TrajectorySink
from distrl.episodes.rota import Admission
from distrl.episodes.weight_renewal import WeightSource


class ConfiguredBuild:
    """Builds collectors as the settings have it (`wiring`)."""

    def __init__(self, config: TrainingConfig, run: str) -> None:
        self._config = config
        self._run = run

    def __call__(
        self,
        badge: Badge,
        sink: TrajectorySink,
        weights: WeightSource,
        admission: Admission,
        opened: ExitStack,
    ) -> Collector[Any]:
        from distrl.agent.computing_threads import use_threads  # loads torch, and only there
        from distrl.engine.wiring import build_collector

        logs = Path(self._run) / "logs"  # of emulators, on the node where they are
        logs.mkdir(parents=True, exist_ok=True)
        node_desk = self._node_desk(badge) if self._config.engine.policy == "node" else None
        use_threads(self._config.collection.threads)
        return build_collector(
            self._config,
            badge.name,
            badge.number,
            sink=sink,
            weights=weights,
            admission=admission,
            opened=opened,
            logs=logs,
            desk=node_desk,
        )

    def _node_desk(self, badge: Badge) -> NodeDesk:
        from distrl.engine.ray_policy_server import find_server

        return NodeDesk(badge.name, partial(find_server, self._run, badge.place))
