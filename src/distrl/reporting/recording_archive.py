"""Store episodes for the report: their screens as small pictures, and the learner's estimates.

Pictures are named by a digest of their content, so that a repeated screen is stored once. A
recording is logged only after all its pictures are on the disk.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Self

from PIL import Image

from distrl.errors import storage_error
from distrl.json_lines import LineLog
from distrl.records import Action, Decision, Screen, Trajectory
from distrl.reporting.recording import describe, draw_action
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import RecordedStep, Recording, Stage

WIDTH = 240  # pixels: twice the width on the page, for high-density displays
QUALITY = 80


def picture_digest(content: bytes) -> str:
    """Return the digest that a picture is named by."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def probability(decision: Decision) -> float | None:
    """Return the probability of the whole answer under its policy; None if it has no tokens."""
    return math.exp(min(0.0, sum(decision.log_probs))) if decision.log_probs else None


class Opinions(NamedTuple):
    """The learner's estimates for each step of an episode; a row of its `UpdateReport`."""

    values: Sequence[float]  # [T]
    ratios: Sequence[float]  # [T]
    advantages: Sequence[float]  # [T]


class RecordingArchive:
    """Adds recordings to one run; a context manager."""

    def __init__(self, log: LineLog, pictures: Path) -> None:
        self._log = log
        self._pictures = pictures

    @classmethod
    def open(cls, run: RunDirectory) -> Self:
        return cls(LineLog.open(run.recordings), run.pictures)

    def add(
        self,
        trajectory: Trajectory,
        stage: Stage,
        *,
        updates: int = 0,
        opinions: Opinions | None = None,
    ) -> Recording:
        """Store an episode; `opinions` has an entry for each of its decisions."""
        verdict = trajectory.verdict
        recording = Recording(
            id=trajectory.id,
            stage=stage,
            template=trajectory.task.template,
            instruction=trajectory.task.instruction,
            ending=trajectory.ending,
            reason=verdict.reason if verdict else " ".join(trajectory.notes),
            updates=updates,
            weight_version=trajectory.weight_version,
            steps=tuple(self._steps(trajectory, opinions)),
            environment=trajectory.environment,
        )
        self._log.append(recording)
        return recording

    def _steps(self, trajectory: Trajectory, opinions: Opinions | None) -> list[RecordedStep]:
        """Return one step for each decision, and one for the final screen."""
        steps = []
        for number, decision in enumerate(trajectory.decisions):
            picture = self._keep(trajectory.screens[number], decision.action)
            thought = [row[number] for row in opinions] if opinions else []
            step = RecordedStep(picture, describe(decision.action), *thought)
            steps.append(replace(step, probability=probability(decision)))
        return [*steps, RecordedStep(self._keep(trajectory.screens[-1], None), "end")]

    def _keep(self, screen: Screen, action: Action | None) -> str:
        marked = draw_action(screen, action)
        height = round(WIDTH * marked.height / marked.width)
        small = marked.resize((WIDTH, height), Image.Resampling.LANCZOS)
        encoded = io.BytesIO()
        small.save(encoded, "WEBP", quality=QUALITY, method=4)
        name = f"{picture_digest(encoded.getvalue())}.webp"
        try:
            self._pictures.mkdir(parents=True, exist_ok=True)
            if not (self._pictures / name).exists():
                draft = self._pictures / f".{name}"
                draft.write_bytes(encoded.getvalue())
                draft.replace(self._pictures / name)
        except OSError as error:
            raise storage_error(error, f"keeping a screen in {self._pictures}") from error
        return name

    def close(self) -> None:
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
