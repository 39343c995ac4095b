"""Episodes that were played outside of a training run, kept so that `distrl view` opens them.

The directory is that of a run without settings: `episodes.jsonl`, `evaluations.jsonl` and the
trajectory store, whole with every screen. Playing on adds to it; an id that is there already gets a
number of its own.
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
    """The writer of such a directory; a context manager."""

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
        """Go on with a directory, or make it; one of a training run is refused."""
        run = RunDirectory(path)
        if run.config.exists():
            raise UsageError(f"{path} is a training run; keep episodes in a directory of their own")
        path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
        store = TrajectoryStore(run.trajectories).open()
        return cls(run, store, LineLog.open(run.episodes))

    def add(self, trajectory: Trajectory, device: str = "") -> str:
        """Keep an episode; returns its id here."""
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
        """Write down how it went, by task id, so that it can be compared with others."""
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
