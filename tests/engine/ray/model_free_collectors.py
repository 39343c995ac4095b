"""Collectors as the settings have them, on nodes where a model should not or cannot be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from distrl.config.training_config import TrainingConfig
from distrl.engine.ray.collector_actor import ConfiguredBuild
from distrl.engine.supervision.collector_registry import CollectorInfo
from distrl.episodes.collector import Collector


class ModelFreeBuild:
    """Builds collectors that fail where they open a model."""

    def __init__(self, config: TrainingConfig, run: str) -> None:
        self._build = ConfiguredBuild(config, run)

    def __call__(self, info: CollectorInfo, *parts: Any) -> Collector[Any]:
        from distrl.engine import wiring

        def refuse(config: TrainingConfig) -> Any:
            raise AssertionError(f"{info.name} has opened {config.agent.model}")

        wiring.build_policy = refuse
        return self._build(info, *parts)


class ModelLosingBuild:
    """Builds collectors on a node whose copy of the model is gone by then."""

    def __init__(self, config: TrainingConfig, run: str) -> None:
        self._model = Path(config.agent.model)
        self._build = ConfiguredBuild(config, run)

    def __call__(self, info: CollectorInfo, *parts: Any) -> Collector[Any]:
        self._model.rename(self._model.with_name("moved"))
        return self._build(info, *parts)
