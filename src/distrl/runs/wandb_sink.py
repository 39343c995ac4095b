"""Metrics to Weights & Biases, if `reporting.wandb=true`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from distrl.errors import NotInstalled
from distrl.runs.run_records import Point


class WandbSink:
    """A run of W&B, with the directory's name as its id: a resumed run continues it."""

    def __init__(self, session: Any) -> None:
        self._session = session

    @classmethod
    def open(cls, project: str, folder: Path, settings: Mapping[str, object]) -> Self:
        """Start or continue the W&B run; its own environment variables give key and mode."""
        try:
            import wandb
        except ImportError as error:
            raise NotInstalled(
                "reporting.wandb=true, and the package wandb is not installed: pip install wandb, "
                "or leave the setting out (metrics.jsonl and TensorBoard have the same figures)"
            ) from error
        session = wandb.init(
            project=project,
            id=folder.name,
            name=folder.name,
            dir=str(folder),
            config=dict(settings),
            resume="allow",
        )
        session.define_metric("updates")
        session.define_metric("*", step_metric="updates")
        return cls(session)

    def add(self, point: Point) -> None:
        figures = {
            f"{point.series}/{name}": figure
            for name, figure in point.figures.items()
            if figure is not None
        }
        if figures:
            self._session.log({**figures, "updates": point.updates, "seconds": point.seconds})

    def close(self) -> None:
        self._session.finish()
