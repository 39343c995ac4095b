"""Make a finished run with every kind of file, and its files on other machines.

    run/      as `distrl train` leaves it, with a write-ahead log in use, faults of phones, refusals
              of guarded ones, verdicts of a judge, collectors that joined and its best weights
    copy/     the copy of the run on a second machine of a cluster; only where Ray is installed
    spool/    what a joined collector keeps until the learner has it

`benchmarks.damage` damages each of these files. Files that a run of seconds does not produce are
written by the same code that writes them in a longer run.
"""

from __future__ import annotations

import importlib.util
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks.fuzz_examples import made_up_trajectory
from benchmarks.train_runs import tiny_model
from distrl.agent.loading import load_policy
from distrl.config.training_config import load_config
from distrl.devices.safety.refusals import Refusal
from distrl.engine.join.identity import Identity
from distrl.engine.join.join_sessions import Members
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.best_weights import BestWeights
from distrl.engine.run.losses import LearnerHome, write_home
from distrl.json_lines import LineLog, encode_line
from distrl.judging.vlm_judge import JudgeCache
from distrl.learning.checkpoint import CheckpointFolder
from distrl.records import Ending, Verdict
from distrl.replay.store.trajectory_database import Correction
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory, write_whole
from distrl.runs.run_progress import MEMBERS, note_progress
from distrl.runs.run_records import DeviceFault, Loss
from distrl.weights.weight_store import WeightStore

HOME = LearnerHome("here", "127.0.0.1")
JUDGE, QUESTIONS = "judge-3", ("first", "second", "third")
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


@dataclass(frozen=True, slots=True)
class World:
    """The directories of a run on all its machines, below one folder."""

    path: Path

    @property
    def run(self) -> RunDirectory:
        return RunDirectory(self.path / "run")

    @property
    def copy(self) -> RunDirectory:
        return RunDirectory(self.path / "copy")

    @property
    def spool(self) -> Path:
        return self.path / "spool"

    def files(self) -> list[str]:
        """Return all files by path; of the copy, only those that differ from the run's."""
        found = [str(f.relative_to(self.path)) for f in self.path.rglob("*") if f.is_file()]
        own = ("copy/replica.json", "copy/progress.json")
        return sorted(each for each in found if not each.startswith("copy/") or each in own)


class FallenSuccess:
    """Success that has just fallen from its best."""

    has_fallen = True
    unkept_best = 0

    def best_kept(self, version: int) -> None: ...


def whole_run(folder: Path) -> World:
    """Train the run and make the other files, all below `folder / "whole"`."""
    places = (f"run.directory={folder / 'runs'}", f"agent.model={tiny_model(folder)}")
    config = load_config(None, [*SETTINGS, *places])
    run = RunDirectory.new(folder / "runs", config.run.name, datetime.now(UTC))
    run.write_config(config)
    write_home(run, HOME)
    write_rare_files(run)
    LocalEngine(config, run, Console(quiet=True)).train()
    keep_best(run)
    world = World(folder / "whole")
    with TrajectoryStore(run.trajectories) as store:  # copied while its write-ahead log is in use
        verdict = Verdict(success=False, reason="judged anew", judge="facts")
        store.correct(store.ids[0], Correction(Ending.GAVE_UP, verdict))
        note_progress(run, CheckpointFolder(run.checkpoints).latest(), store.position)
        shutil.copytree(run.path, world.run.path, ignore=shutil.ignore_patterns("*-shm"))
        if importlib.util.find_spec("ray") is not None:
            write_copy(run, world.copy)
    write_spool(world.spool)
    return world


def write_rare_files(run: RunDirectory) -> None:
    """Write the files that need a fault, a joining collector or a model as judge."""
    with LineLog.open(run.losses) as losses, LineLog.open(run.device_faults) as faults:
        losses.append(Loss("trajectory", "number 0", "was lost before"))
        faults.append(DeviceFault("phone-0", 1.5, "DeviceTimeout: it hangs"))
        faults.append(DeviceFault("phone-1", 2.5, "DeviceLocked: a PIN is wanted"))
    refusals = [Refusal(1.0, "phone-0", "Tap(x=0.5, y=0.5)", why) for why in ("delete", "a shade")]
    run.refusals.write_bytes(b"".join(map(encode_line, refusals)))
    with JudgeCache(run.judge_cache) as cache:
        for number, key in enumerate(QUESTIONS):
            verdict = Verdict(success=number % 2 == 0, reason=f"reason {number}", judge=JUDGE)
            cache.add(key, verdict, f"Reason: {number}\nVerdict: …")
    Identity.in_folder(run.path / "join")
    members = Members("0" * 32, {"a" * 32: 1000, "b" * 32: 1001})
    write_whole(run.path / MEMBERS, encode_line(members).decode())


def keep_best(run: RunDirectory) -> None:
    """Keep and export the best weights, as a run does when its success falls."""
    best = BestWeights(run, WeightStore(run.weights), FallenSuccess(), lambda said: None)
    best.keep_if_best()
    best.export_if_fallen(load_policy(str(run.path), device="cpu"))


def write_copy(run: RunDirectory, copy: RunDirectory) -> None:
    from distrl.engine.ray import run_copy

    source = run_copy.RunSource(
        files=lambda: run_copy.list_files(run),
        part=lambda name, offset: run_copy.read_part(run, name, offset),
        rows=lambda after: run_copy.read_rows(run, after),
    )
    copier = run_copy.RunCopy(copy, source, load_config(run.config).store)
    copier.begin()
    copier.update(HOME, LearnerHome("there", "127.0.0.2"), time.time())


def write_spool(folder: Path) -> None:
    with TrajectorySpool(folder, max_waiting=9) as spool:
        assert spool.member
        spool.begin("run")
        spool.put(made_up_trajectory())
