"""Figures to Weights & Biases, for those who ask for it (`reporting.wandb=true`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from distrl.errors import NotInstalled
from distrl.runs.run_records import Point


class WandbSink:
    """One of their runs. A resumed run goes on in the same one: its id is the directory's name."""

    def __init__(self, session: Any) -> None:
        self._session = session

    @classmethod
    def open(cls, project: str, folder: Path, settings: Mapping[str, object]) -> Self:
        """Begin or go on; who and where (key, offline) is what their own variables say."""
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
