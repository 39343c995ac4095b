"""Episodes played outside of a training run, stored so that `distrl view` can show them.

The directory has the layout of a run directory without settings: `episodes.jsonl`,
`evaluations.jsonl` and the trajectory store with every screen. Later episodes are appended; an id
that is already in the store gets a number in front.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from distrl.errors import UsageError
from distrl.json_lines import LineLog
from distrl.records import Trajectory
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import OWNER_ONLY, RunDirectory
from distrl.runs.run_records import EpisodeLine, EvaluationLine, TemplateCount


class KeptEpisodes:
    """Writes such a directory, as a context manager."""

    def __init__(
        self,
        run: RunDirectory,
        store: TrajectoryStore,
        episodes: LineLog,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.run = run
        self._store = store
        self._episodes = episodes
        self._clock = clock
        self._began = self._last = clock()

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or create a directory; raise `UsageError` if it belongs to a training run."""
        run = RunDirectory(path)
        if run.config.exists():
            raise UsageError(f"{path} is a training run; keep episodes in a directory of their own")
        path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
        store = TrajectoryStore(run.trajectories).open()
        return cls(run, store, LineLog.open(run.episodes))

    def add(self, trajectory: Trajectory, device: str = "") -> str:
        """Store an episode and return its id in this directory."""
        name, number = trajectory.id, 1
        while name in self._store:
            number += 1
            name = f"{number}/{trajectory.id}"
        self._store.append(dataclasses.replace(trajectory, id=name))
        now = self._clock()
        self._episodes.append(
            EpisodeLine(
                id=name,
                task=trajectory.task.id,
                template=trajectory.task.template,
                ending=trajectory.ending,
                steps=len(trajectory.decisions),
                weight_version=trajectory.weight_version,
                staleness=0,
                device=device,
                began=round(self._last - self._began, 3),
                ended=round(now - self._began, 3),
            )
        )
        self._last = now
        return name

    def note_evaluation(self, split: str, successes: Mapping[str, bool]) -> None:
        """Append an evaluation line with success by task id, to compare evaluations by."""
        templates = sorted({task.partition("/")[0] for task in successes})
        counts = []
        for template in templates:
            own = [good for task, good in successes.items() if task.partition("/")[0] == template]
            counts.append(TemplateCount(template, sum(own), len(own)))
        with LineLog.open(self.run.evaluations) as log:
            line = EvaluationLine(
                "after", split, 0, 0, self._clock() - self._began, tuple(counts), successes
            )
            log.append(line)

    def close(self) -> None:
        self._episodes.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
