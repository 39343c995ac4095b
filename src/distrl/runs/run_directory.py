"""The directory of a run: one per run, locked by one process at a time.

    runs/train-2026-01-05-081500/
        config.toml         every setting, resolved; `distrl train --resume` reads it
        metrics.jsonl       metrics over the run, also in tensorboard/  (`run_records`)
        episodes.jsonl      every finished training episode
        device_faults.jsonl  which device failed when, and why
        phones.json         the serial of each phone over adb, chosen once
        collectors.json     the collectors, where they run, and which phones are quarantined
        draws.sqlite        the learner's estimates for each trajectory at its last draw
        live/               what the phones show now, while somebody watches (`distrl view`)
        evaluations.jsonl   success by template, before, during and after
        recordings.jsonl    a few episodes to look at; their screens are in pictures/
        trajectories/       the trajectory store
        weights/            the weight store
        best_weights/       the version with which training went best
        checkpoints/        what a restarted learner continues from
        progress.json       sizes of files at the last checkpoint; a resume that finds less raises
        losses.jsonl        lost data that a resume was told to accept
        judge_cache.jsonl   verdicts of vision-language judges, with their replies
        refusals.jsonl      what guarded phones did not carry out, and why
        learner.json        the machine of a cluster that the learner runs on
        replica.json        only in a copy of a run: the original's machine, and when it was copied
        join/               certificate, token and members, where collectors join (`engine.join`)
        policy/             the trained policy as a model; `distrl evaluate RUN` finds it here
        best_policy/        the policy when training went best, if success fell after that
        writer.lock         held by the process that writes; resume.lock by the command that resumes
        card.json           what the run was made with: code, command, machine, packages
        result.json         the result; written last, so its presence says that the run is done
        report.html         the page to look at

Problems raise before any work is done: a directory that another process has locked or that is not
writable, a full disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from distrl.agent.export_directory import IN_A_RUN
from distrl.config.toml_writer import to_toml, with_checksum
from distrl.errors import StorageFull, UsageError, storage_error
from distrl.private_folder import OTHERS
from distrl.replay.store.directory_lock import DirectoryLock
from distrl.runs.checked_json import to_checked_json
from distrl.runs.run_records import RunResult

if TYPE_CHECKING:
    from distrl.config.training_config import TrainingConfig

MAX_TRIES = 1000
OWNER_ONLY = 0o700
RESUME_LOCK = "resume.lock"


class RunDirectory:
    """The files of a run. Create one with `new`, or open one with `existing`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.toml"
        self.metrics = path / "metrics.jsonl"
        self.tensorboard = path / "tensorboard"
        self.episodes = path / "episodes.jsonl"
        self.device_faults = path / "device_faults.jsonl"
        self.phones = path / "phones.json"
        self.collectors = path / "collectors.json"
        self.evaluations = path / "evaluations.jsonl"
        self.recordings = path / "recordings.jsonl"
        self.pictures = path / "pictures"
        self.draws = path / "draws.sqlite"
        self.trajectories = path / "trajectories"
        self.weights = path / "weights"
        self.best_weights = path / "best_weights"
        self.checkpoints = path / "checkpoints"
        self.progress = path / "progress.json"
        self.learner_home = path / "learner.json"
        self.replica = path / "replica.json"
        self.losses = path / "losses.jsonl"
        self.refusals = path / "refusals.jsonl"
        self.policy = path / IN_A_RUN
        self.best_policy = path / "best_policy"
        self.judge_cache = path / "judge_cache.jsonl"
        self.result = path / "result.json"
        self.card = path / "card.json"
        self.report = path / "report.html"

    @classmethod
    def new(cls, parent: Path, name: str, now: datetime) -> Self:
        """Create a new directory below `parent`, named after the run and the time."""
        stem = f"{name}-{now:%Y-%m-%d-%H%M%S}"
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for number in range(1, MAX_TRIES):
                path = parent / (stem if number == 1 else f"{stem}-{number}")
                with contextlib.suppress(FileExistsError):
                    path.mkdir(mode=OWNER_ONLY)  # it has the screens of people's phones
                    return cls(path)
        except OSError as error:
            raise storage_error(error, f"making a run directory in {parent}") from error
        raise UsageError(f"{parent} has {MAX_TRIES} runs called {stem}; give this one a name")

    def make(self) -> None:
        """Create the directory if needed, such as on another node, with owner-only permissions.

        It has the screens of people's phones. An existing one with wider permissions was made by
        an older version, or by a node that came first; it is restricted.
        """
        try:
            self.path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
            found = self.path.stat()
            if found.st_mode & OTHERS and found.st_uid == os.geteuid():
                self.path.chmod(OWNER_ONLY)
        except OSError as error:
            raise storage_error(error, f"making the run directory {self.path}") from error

    @classmethod
    def existing(cls, path: Path) -> Self:
        """Open the directory of an earlier run; raise `UsageError` if it has no config.toml."""
        if not (path / "config.toml").is_file():
            raise UsageError(
                f"{path} is no run directory: it has no config.toml; name one below runs/"
            )
        return cls(path)

    @contextlib.contextmanager
    def held(self, free_bytes: float = 0.0) -> Iterator[None]:
        """Lock the directory against other writers; raise `StorageFull` below `free_bytes`."""
        with self._locked(DirectoryLock(self.path)):
            check_room(self.path, free_bytes)
            yield

    @contextlib.contextmanager
    def resuming(self) -> Iterator[None]:
        """Lock out other commands that would resume the run, until it has ended.

        Take it before reading the settings, so that `config.toml` has those of the command that got
        the lock. It is separate from `held`: on a cluster another process is the writer.
        """
        with self._locked(DirectoryLock(self.path, RESUME_LOCK)):
            yield

    @contextlib.contextmanager
    def _locked(self, lock: DirectoryLock) -> Iterator[None]:
        try:
            lock.acquire()
        except OSError as error:
            raise storage_error(error, f"writing to the run directory {self.path}") from error
        try:
            yield
        finally:
            lock.release()

    def discard_unused(self) -> bool:
        """Remove the directory if its run never began; return whether it is gone."""
        if self.metrics.exists() or (self.path / "logs").exists():
            return False
        shutil.rmtree(self.path, ignore_errors=True)
        return not self.path.exists()

    def write_config(self, config: TrainingConfig) -> None:
        write_whole(self.config, with_checksum(to_toml(config)))

    def write_result(self, result: RunResult) -> None:
        write_whole(self.result, to_checked_json(result.to_json()))


def check_room(folder: Path, wanted: float, moved_by: str = "run.directory") -> None:
    """Raise `StorageFull` if fewer than `wanted` bytes (`run.free_gigabytes`) are free.

    `moved_by`: the setting or option that chooses another folder, for the message.
    """
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise storage_error(error, f"looking for room in {folder}") from error
    if free < wanted:
        raise StorageFull(
            f"{free / 1e9:.1f} GB are free at {folder}, and run.free_gigabytes wants "
            f"{wanted / 1e9:.1f}; make room, or give {moved_by} on another disk"
        )


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: after a kill it has its old content or all of the new."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise storage_error(error, f"writing {path}") from error


def _sync_folder(folder: Path) -> None:
    """Flush the directory entry to the disk as well."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network disks cannot, and need not
            raise
    finally:
        os.close(file)


def evaluation_words(run: RunDirectory, config: TrainingConfig) -> str:
    """Return the command that plays unseen tasks of the trained kind with the trained policy.

    Tasks that are not the simulated phone's are played on the devices of the run, and those of
    several environments in each.
    """
    drawn = "--greedy" if config.evaluation.greedy else "--sampled"
    later = any(each.judge.later for each in config.by_environment().values())
    if config.environments and not later:
        return shlex.join(["distrl", "evaluate", str(run.path), "--on", str(run.path), drawn])
    if config.environments or config.tasks.source != "simulated":
        trained = "agent.adapter" if config.agent.policy.lora is not None else "agent.model"
        splits = [
            f"environments.{name}.tasks.split={each.evaluation_split}"
            for name, each in config.environments.items()
        ]
        settings = ("run.name=after", *(splits or ["tasks.split=test"]), "run.trajectories=100")
        words = [f"--set={each}" for each in (*settings, f"{trained}={run.policy}")]
        return shlex.join(["distrl", "collect", str(run.config), *words])
    words = ["distrl", "evaluate", str(run.path), "--split", config.evaluation.split]
    if len(config.tasks.families) == 1:
        words += ["--family", config.tasks.families[0]]
    if config.tasks.templates:
        for name in config.tasks.template_names:
            words += ["--template", name]
    return shlex.join([*words, drawn])


def resume_words(run: RunDirectory, config: TrainingConfig) -> str:
    """Return the command that resumes a run; a finished one gets twice its limits."""
    words = ["distrl", "train", "--resume", str(run.path)]
    if run.result.exists():
        for name in ("minutes", "trajectories", "updates"):
            if limit := getattr(config.run, name):
                words += ["--set", f"run.{name}={2 * limit:g}"]
    return shlex.join(words)
