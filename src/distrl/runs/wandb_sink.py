"""Send metrics to Weights & Biases (`reporting.wandb`), and check its key before a run.

wandb finds its key, server and mode by itself: `wandb login`, WANDB_API_KEY, WANDB_BASE_URL,
WANDB_MODE. It keeps retrying while its server is away during a run. Its errors are raised as
`TrackerError`, with advice.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from distrl.errors import NotInstalled, TrackerError
from distrl.runs.run_records import Point

OFFLINE = ("offline", "disabled", "dryrun")  # modes that need no key
WAYS = (
    "`wandb login` on this machine or WANDB_API_KEY gives it a key; WANDB_MODE=offline keeps the "
    "figures here for `wandb sync`; without reporting.wandb, metrics.jsonl and TensorBoard have "
    "the same figures"
)


def check_wandb() -> str:
    """Raise `TrackerError` unless W&B is offline or its server accepts the key; return a warning.

    The warning is empty if all is well. Never prompt: the live view owns the terminal.
    """
    wandb = _package()
    with _typed(wandb, "asking Weights & Biases whether it takes this machine's key"):
        if wandb.setup().settings.mode in OFFLINE:
            return ""
        if "prompt" not in inspect.signature(wandb.login).parameters:
            return (
                f"wandb {wandb.__version__} cannot be asked for its key before the start; newer "
                "ones can (pip install -U wandb)"
            )
        if wandb.login(prompt=False, verify=True):
            return ""
    raise TrackerError(f"reporting.wandb=true, and Weights & Biases has no key here: {WAYS}")


class WandbSink:
    """A run of W&B, with the directory's name as its id: a resumed run continues it."""

    def __init__(self, wandb: Any, session: Any) -> None:
        self._wandb = wandb
        self._session = session

    @classmethod
    def open(cls, project: str, folder: Path, settings: Mapping[str, object]) -> Self:
        """Start or continue the W&B run."""
        wandb = _package()
        with _typed(wandb, f"beginning the run {folder.name} at Weights & Biases"):
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
        return cls(wandb, session)

    def add(self, point: Point) -> None:
        figures = {
            f"{point.series}/{name}": figure
            for name, figure in point.figures.items()
            if figure is not None
        }
        if figures:
            with _typed(self._wandb, "sending figures to Weights & Biases"):
                self._session.log({**figures, "updates": point.updates, "seconds": point.seconds})

    def close(self) -> None:
        with _typed(self._wandb, "ending the run at Weights & Biases"):
            self._session.finish()


def _package() -> Any:
    try:
        import wandb
    except ImportError as error:
        raise NotInstalled(
            "reporting.wandb=true, and the package wandb is not installed: pip install wandb, "
            "or leave the setting out (metrics.jsonl and TensorBoard have the same figures)"
        ) from error
    return wandb


@contextmanager
def _typed(wandb: Any, tried: str) -> Iterator[None]:
    try:
        yield
    except wandb.Error as error:
        raise TrackerError(f"{tried}: {str(error).rstrip('.')}. {WAYS}") from error
