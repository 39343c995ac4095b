"""Every file of a finished run damaged in every way, and what is made of it.

A small run is copied, one of its files is damaged (a flipped bit, a cut, zeros, random bytes, or it
is removed), and all that reads such a directory reads the copy: the report, the trajectories as a
corpus, the policy as a model, and `distrl train --resume`, with `--accept-losses` where it asks for
that. Each is compared with what the whole run gives:

    repaired   the same; the damage was in nothing that is needed, or was made good
    reported   something else, and the report, the result or a sentence says what is missing
    refused    a typed error
    silent     something else without a word, or an error that is not ours: a mistake in DistRL
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from rich.console import Console

from benchmarks.train_runs import tiny_model
from distrl.agent.loading import load_policy
from distrl.cli.train import run_command
from distrl.config.training_config import load_config
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.losses import LearnerHome, write_home
from distrl.engine.run.resume import corpus
from distrl.errors import DataLost, DistrlError
from distrl.json_lines import LineLog, read_lines
from distrl.learning.checkpoint import CheckpointFolder
from distrl.records import Ending, Verdict
from distrl.replay.store.trajectory_database import Correction
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.reporting.report import report_page
from distrl.reporting.run_story import read_story
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import note_progress
from distrl.runs.run_records import EpisodeLine, Loss
from distrl.weights.weight_store import WeightStore

Outcome = Literal["repaired", "reported", "refused", "silent"]
WORST: tuple[Outcome, ...] = ("repaired", "reported", "refused", "silent")
SETTINGS = (
    "run.name=damage",
    "run.updates=2",
    "run.free_gigabytes=0.01",
    "tasks.templates=clock.turn_off_alarm,clock.delete_alarm",
    "devices.count=2",
    "agent.policy.sampling.max_new_tokens=3",
    "collection.mode=one_process",
    "pacing.samples_per_insert=1",
    "pacing.minimum_fill=2",
    "learning.learner.batch_trajectories=2",
    "learning.learner.refresh_trajectories=0",
    "learning.learner.updates_per_publish=1",
    "evaluation.before=1",
    "evaluation.after=1",
    "reporting.recordings=2",
)
RESUMED = ("evaluation.after=0",)  # nothing is played: a resume costs a second
GONE = "this picture is gone or damaged"
UNREAD = ("logs/", "tensorboard/", "report.html", "result.json", "writer.lock", "resume.lock")
TIMED = ("wall_s", "training_s", "phone_time", "learner_time", "phones_waiting_share")  # differ


# What is done to a file ---------------------------------------------------------------------------


def flipped(data: bytes, at: int, rng: random.Random) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1 << rng.randrange(8)
    return bytes(changed)


def zeroed(data: bytes, at: int) -> bytes:
    """As a block that a disk has lost."""
    end = min(len(data), at + 512)
    return data[:at] + bytes(end - at) + data[end:]


def damages(data: bytes, rng: random.Random, flips: int) -> dict[str, bytes | None]:
    """Contents by what was done; None: the file is removed."""
    size = len(data)
    places = [0, size // 2, size - 1, *(rng.randrange(size) for _ in range(flips))]
    ways: dict[str, bytes | None] = {
        f"bit flipped at {at}": flipped(data, at, rng) for at in places
    }
    ways |= {f"cut to {at}": data[:at] for at in (0, size // 2, size - 1, rng.randrange(size))}
    if b"\n" in data[:-1]:  # a log that ends with a whole line tells nothing of those after it
        at = data.rindex(b"\n", 0, -1) + 1
        ways[f"cut to {at}, without the last line"] = data[:at]
    at = rng.randrange(size)
    ways |= {"random bytes": rng.randbytes(size), f"zeros at {at}": zeroed(data, at)}
    return {**ways, "removed": None}


# What reads a run ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader made of a run: equal digests are equal results."""

    digest: str
    said: str = ""  # sentences on what is missing


def read_report(run: RunDirectory) -> Reading:
    story = read_story(run)
    page = report_page(story)
    missing = [f"{each.name} {each.reason}" for each in story.losses] + [GONE] * page.count(GONE)
    return Reading(hashlib.blake2b(page.encode()).hexdigest(), "; ".join(missing))


def read_corpus(run: RunDirectory) -> Reading:
    said: list[str] = []
    digest = hashlib.blake2b()
    for trajectory in corpus(str(run.path), said.append):
        digest.update(encode_trajectory(trajectory))
    return Reading(digest.hexdigest(), " ".join(said))


def read_policy(run: RunDirectory) -> Reading:
    policy = load_policy(str(run.path), device="cpu", greedy=True)
    return Reading(_digest_of(policy.weights()))


def resume(run: RunDirectory, *, accept_losses: bool = False) -> Reading:
    """Resume it to its end, and read everything that it has then."""
    output = Console(file=io.StringIO(), width=1000)
    run_command(output, None, RESUMED, run.path, dry_run=False, accept_losses=accept_losses)
    result = json.loads(run.result.read_text("utf-8"))
    missing = {name: result.pop(name) for name in ("lost_trajectories", "damaged_files")}
    for name in TIMED:
        result.pop(name)
    evaluated = (run.evaluations.read_bytes(), run.recordings.read_bytes())
    facts = (
        sorted(result.items()),
        [(line.id, line.ending, line.steps) for line in read_lines(run.episodes, EpisodeLine)],
        [(p.updates, sorted(p.figures)) for p in read_points(run.metrics)],
        [hashlib.blake2b(part).hexdigest() for part in evaluated],
        read_corpus(run).digest,
        read_policy(run).digest,
        _digest_of(WeightStore(run.weights).load().weights),
    )
    return Reading(hashlib.blake2b(repr(facts).encode()).hexdigest(), repr(sorted(missing.items())))


def _digest_of(weights: Mapping[str, object]) -> str:
    digest = hashlib.blake2b()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.detach().cpu().numpy().tobytes().hex()}".encode())  # type: ignore[attr-defined]
    return digest.hexdigest()


READERS: dict[str, Callable[[RunDirectory], Reading]] = {
    "report": read_report,
    "corpus": read_corpus,
    "policy": read_policy,
    "resume": resume,
}


def readers_of(file: str) -> tuple[str, ...]:
    """Who reads a file; a resume comes last, since it changes the run."""
    folder, _, rest = file.partition("/")
    if not rest:
        shown = file.endswith(".jsonl") or file in ("config.toml", "progress.json")
        return ("report", "resume") if shown else ("resume",)
    return {
        "policy": ("policy",),  # a resume writes it anew
        "pictures": ("report", "resume"),
        "trajectories": ("corpus", "resume"),
    }.get(folder, ("resume",))


# The comparison -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """One damage of one file, and what became of it."""

    file: str
    way: str
    outcome: Outcome
    why: str


class DamagedRuns:
    """Copies of a whole run, each damaged once and read by everything."""

    def __init__(self, folder: Path, whole: RunDirectory) -> None:
        self._folder = folder
        self._whole = whole
        self._expected: dict[str, Reading] = {}

    def files(self) -> list[str]:
        path = self._whole.path
        return sorted(str(f.relative_to(path)) for f in path.rglob("*") if f.is_file())

    def content(self, name: str) -> bytes:
        return (self._whole.path / name).read_bytes()

    def cases(self, rng: random.Random, flips: int) -> Iterator[Case]:
        """Every damage of every file."""
        for name in self.files():
            data = self.content(name)
            ways = damages(data, rng, flips) if data else {}
            if name.startswith(UNREAD):
                ways = {way: ways[way] for way in ways if way in ("cut to 0", "removed")}
            for way, content in ways.items():
                yield self.case(name, way, content)

    def case(self, name: str, way: str, content: bytes | None) -> Case:
        """Damage one file of a copy; the outcome is the worst that any reader makes of it."""
        self._expected = self._expected or {
            reader: read(self._copy()) for reader, read in READERS.items()
        }
        found = {reader: self._outcome(reader, name, content) for reader in readers_of(name)}
        reader = max(found, key=lambda each: WORST.index(found[each][0]))
        outcome, why = found[reader]
        return Case(name, way, outcome, f"{reader}: {why}")

    def _outcome(self, reader: str, name: str, content: bytes | None) -> tuple[Outcome, str]:
        run = self._copy(name, content)
        expected = self._expected[reader]
        try:
            try:
                reading = READERS[reader](run)
            except DataLost as error:
                if "--accept-losses" not in str(error):
                    raise
                reading = resume(run, accept_losses=True)
                if reading.said == expected.said:
                    return "silent", "an accepted loss is not in the result"
        except DistrlError as error:
            return "refused", f"{type(error).__name__}: {error}"
        except Exception as error:  # noqa: BLE001 - whatever is not ours is what we look for
            return "silent", f"{type(error).__name__}: {error}"
        if reading.said != expected.said:
            return "reported", reading.said
        if reading.digest != expected.digest:
            return "silent", "another result without a word"
        return "repaired", ""

    def _copy(self, damaged: str = "", content: bytes | None = None) -> RunDirectory:
        path = self._folder / self._whole.path.name
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self._whole.path, path)
        if damaged and content is None:
            (path / damaged).unlink()
        elif damaged:
            (path / damaged).write_bytes(content or b"")
        return RunDirectory(path)


def whole_run(folder: Path) -> RunDirectory:
    """A finished run with every kind of file in it, a write-ahead log included."""
    places = (f"run.directory={folder / 'runs'}", f"agent.model={tiny_model(folder)}")
    config = load_config(None, [*SETTINGS, *places])
    run = RunDirectory.new(folder / "runs", config.run.name, datetime.now(UTC))
    run.write_config(config)
    write_home(run, LearnerHome("here", "127.0.0.1"))
    with LineLog.open(run.losses) as log:
        log.append(Loss("trajectory", "number 0", "was lost before"))
    LocalEngine(config, run, Console(quiet=True)).train()
    whole = RunDirectory(folder / "whole" / run.path.name)
    with TrajectoryStore(run.trajectories) as store:  # copied while its log is in use
        verdict = Verdict(success=False, reason="judged anew", judge="facts")
        store.correct(store.ids[0], Correction(Ending.GAVE_UP, verdict))
        note_progress(run, CheckpointFolder(run.checkpoints).latest(), store.position)
        shutil.copytree(run.path, whole.path, ignore=shutil.ignore_patterns("*-shm"))
    return whole


def damage_figures(
    folder: Path, rng: random.Random, flips: int, say: Callable[[str], None]
) -> dict[str, float]:
    """Damage every file of a run; the figures of `make chaos`."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = DamagedRuns(folder / "copies", whole_run(folder))
    counts: Counter[str] = Counter()
    for case in runs.cases(rng, flips):
        counts[case.outcome] += 1
        if case.outcome == "silent":
            say(f"silent: {case.file}, {case.way}: {case.why}")
    figures: dict[str, float] = {"damaged_files": len(runs.files()), "damages": counts.total()}
    return figures | {f"damage_{name}": counts[name] for name in WORST}
