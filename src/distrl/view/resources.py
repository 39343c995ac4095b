"""The page's data by path: what the server sends, and what a bundle has on disk.

    names.json                       names and states of the runs, found without reading logs
    runs.json                        all runs, and the settings in which they differ
    RUN/summary.json                 a run in a few figures
    RUN/newest.json                  the newest episodes: what a page begins with
    RUN/episodes.json                all episodes as columns (`episode_index`)
    RUN/details.json                 more columns of them, from the trajectory store
    RUN/episode/SEQ.json             one of them, step by step (`xray`)
    RUN/episode/SEQ.gif, SEQ.mp4     the same as a recording; an MP4 where there is an encoder
    RUN/screen/SEQ-STEP.jpg          a screen of it
    RUN/weights.json                 which weights of it are kept (`kept_weights`)
    RUN/step/SEQ-STEP/KEY.json       a step under those weights, computed now (`step_scorer`)
    RUN/curves.json, RUN/health.json
    RUN/versus/OTHER.json            the evaluations of two runs, task by task

The records of a run (`RunStory`) are read again only when its files have changed, and while it
trains at most every `STORY_SECONDS`. Nothing is written into a run.
"""

from __future__ import annotations

import re
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distrl.json_lines import plain_json
from distrl.reporting.recording import can_write_mp4
from distrl.reporting.run_story import RunStory, read_story
from distrl.runs.run_directory import RunDirectory
from distrl.view.curves import run_curves
from distrl.view.episode_index import EpisodeIndex
from distrl.view.health import run_health
from distrl.view.kept_weights import kept_weights
from distrl.view.run_catalogue import RunCatalogue, run_state
from distrl.view.run_summary import differing_settings, run_summary, settings_of, stamp, versus
from distrl.view.step_scorer import StepQuestion, StepScorer
from distrl.view.xray import EpisodeFiles

STORY_SECONDS = 15.0  # between two reads of all records of a run that trains
JSON, JPEG = "application/json", "image/jpeg"
RECORDINGS = {"gif": "image/gif", "mp4": "video/mp4"}
EPISODE = re.compile(r"episode/(\d{1,12})\.(json|gif|mp4)")
SCREEN = re.compile(r"screen/(\d{1,12})-(\d{1,5})\.jpg")
STEP = re.compile(r"step/(\d{1,12})-(\d{1,5})/([a-z0-9.-]{1,40})\.json")
VERSUS = re.compile(r"versus/([^/]+)\.json")


@dataclass(frozen=True, slots=True)
class Resource:
    """A response: bytes and their media type; `lasting`: they never change."""

    content: bytes
    media_type: str = JSON
    lasting: bool = False


@dataclass(slots=True)
class RunResources:
    """The data of one run, and a cache of what was read of it."""

    run: RunDirectory
    index: EpisodeIndex = field(init=False)
    files: EpisodeFiles = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stamp: object = None
    _story: RunStory | None = None
    _read_at: float = 0.0  # when the story was read, by `time.monotonic`
    _summary: tuple[RunStory, dict[str, Any]] | None = None  # with its story

    def __post_init__(self) -> None:
        self.index, self.files = EpisodeIndex(self.run), EpisodeFiles(self.run)

    @property
    def story(self) -> RunStory:
        with self._lock:
            now = stamp(self.run)
            if self._story is None or (now != self._stamp and self._is_due()):
                self._story, self._stamp = read_story(self.run), now
                self._read_at = time.monotonic()
            return self._story

    @property
    def summary(self) -> dict[str, Any]:
        """Computed once for each story, except the state, which is read each time."""
        story, known = self.story, self._summary
        if known is None or known[0] is not story:
            known = self._summary = story, run_summary(story)
        return {**known[1], "state": run_state(self.run, time.time())}

    def _is_due(self) -> bool:
        """Return whether to read again; always after the end of a run, when nobody asks again."""
        recent = time.monotonic() - self._read_at < STORY_SECONDS
        return not recent or run_state(self.run, time.time()) != "running"


class Resources:
    """The data of all runs of a catalogue. Thread-safe."""

    def __init__(self, catalogue: RunCatalogue) -> None:
        self.catalogue = catalogue
        self._runs: dict[str, RunResources] = {}
        self._scorer = StepScorer()

    def run(self, name: str) -> RunResources:
        """Return the data of a run; raise `LookupError` if there is no such run."""
        directory = self.catalogue[name]
        return self._runs.setdefault(name, RunResources(directory))

    def get(self, path: str) -> Resource:
        """Return the resource at `path`; raise `LookupError` if there is none."""
        if path in ("names.json", "runs.json"):
            return _json(self._names() if path == "names.json" else self._overview())
        name, _, rest = path.partition("/")
        run = self.run(name)
        plain: dict[str, Callable[[], Any]] = {
            "summary.json": lambda: run.summary,
            "newest.json": run.index.newest,
            "episodes.json": run.index.episodes,
            "details.json": run.index.details,
            "curves.json": lambda: run_curves(run.story),
            "health.json": lambda: run_health(run.story),
            "weights.json": lambda: kept_weights(run.run),
        }
        if rest in plain:
            return _json(plain[rest]())
        if found := EPISODE.fullmatch(rest):
            return _episode(run, int(found[1]), found[2])
        if found := SCREEN.fullmatch(rest):
            return Resource(run.files.screen(int(found[1]), int(found[2])), JPEG, lasting=True)
        if found := STEP.fullmatch(rest):
            asked = StepQuestion(run.run.path, found[3], int(found[1]), int(found[2]))
            return _json(self._scorer.ask(asked))
        if found := VERSUS.fullmatch(rest):
            return _json(versus(run.story, self.run(found[1]).story))
        raise LookupError(f"there is no {path}")

    def close(self) -> None:
        """End the process that scores steps, if it was started."""
        self._scorer.close()

    def _names(self) -> dict[str, Any]:
        now = time.time()
        runs = [
            {"name": name, "state": run_state(run, now), "kept_evaluation": not run.config.exists()}
            for name, run in self.catalogue.runs().items()
        ]
        return {"path": self.catalogue.path.name, "runs": runs, "video": can_write_mp4()}

    def _overview(self) -> dict[str, Any]:
        names = list(self.catalogue.runs())
        settings = {name: settings_of(self.run(name).run) for name in names}
        return {
            "path": self.catalogue.path.name,
            "runs": [self.run(name).summary for name in names],
            "settings": differing_settings(settings),
            "curves": {
                name: [
                    [round(at, 1), rate.rate] for at, rate in self.run(name).story.success_curve()
                ]
                for name in names
            },
        }


def _episode(run: RunResources, seq: int, kind: str) -> Resource:
    if kind == "json":
        return _json(run.files.xray(seq))
    with tempfile.TemporaryDirectory() as scratch:
        content = run.files.recording(seq, Path(scratch) / f"episode.{kind}")
    return Resource(content, RECORDINGS[kind], lasting=True)


def _json(value: Any) -> Resource:
    return Resource(plain_json(value))
