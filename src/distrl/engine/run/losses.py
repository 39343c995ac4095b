"""Finds what a resumed run has lost: damaged or missing trajectories, checkpoints and logs.

With every checkpoint a run records in `progress.json` what it has by then (`run_progress`). A
resume compares (`check_losses`), reads every stored trajectory, and looks up the id of every logged
one. If anything is missing, it raises `DataLost` before anything is changed: going on without it
would be another experiment. If the user accepts the losses, each becomes a line in `losses.jsonl`;
the result and the report count them, and the next resume does not ask again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from distrl.errors import DataLost
from distrl.json_lines import LineLog, decode_line, encode_line, read_lines
from distrl.learning.checkpoint import CheckpointFolder
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.reporting.run_story import read_story
from distrl.runs.run_directory import RunDirectory, write_whole
from distrl.runs.run_progress import note_progress, phone_losses, read_progress
from distrl.runs.run_records import EpisodeLine, Loss

T = TypeVar("T")
NAMED = 3  # losses that are named in a sentence; the rest is counted


@dataclass(frozen=True, slots=True)
class LearnerHome:
    """The machine whose disk has the run, as the command that started it recorded it."""

    hostname: str
    address: str
    copy: LearnerHome | None = None  # the machine that has a copy of the run

    def __str__(self) -> str:
        return f"{self.hostname} ({self.address})"


@dataclass(frozen=True, slots=True)
class ReplicaNote:
    """`replica.json`: this directory, on `host`, is a copy of the run on `learner`."""

    learner: LearnerHome
    host: LearnerHome
    written: float  # seconds since 1970; 0: the copy is not complete

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.written, UTC)
        of = f"of {when:%Y-%m-%d %H:%M:%S} UTC" if self.written else "not complete"
        return f"a copy on {self.host}, {of}, of the run on {self.learner}"


def write_home(run: RunDirectory, home: LearnerHome) -> None:
    write_whole(run.learner_home, encode_line(home).decode())


def read_home(run: RunDirectory) -> LearnerHome | None:
    """Return the learner's machine; None if no learner has begun on a cluster."""
    if run.learner_home.exists():
        return _read_note(run.learner_home, LearnerHome)
    if run.replica.exists():
        note = _read_note(run.replica, ReplicaNote)
        return replace(note.learner, copy=note.host)
    return None


def _read_note(path: Path, kind: type[T]) -> T:
    try:
        return decode_line(path.read_bytes(), kind)
    except (OSError, ValueError) as error:
        raise DataLost(
            f"{path} cannot be read ({error}); it names the machine that the learner "
            "of this run was on: resume the run there, or remove the file to start over here"
        ) from error


def check_losses(
    run: RunDirectory,
    store: TrajectoryStore,
    checkpoints: CheckpointFolder,
    say: Callable[[str], None],
    *,
    accept: bool,
) -> None:
    """Raise `DataLost` if the run has lost data; with `accept`, record the losses instead."""
    story = read_story(run)  # reads all logs: raises `CorruptLog` before any change
    accepted = {each.name for each in story.losses if each.kind == "trajectory"}
    found = _losses(run, store, checkpoints)
    losses = [each for each in found if each.kind == "file" or each.name not in accepted]
    if not losses:
        return
    _record(run, losses, say, accept=accept)
    note_progress(run, checkpoints.latest(), store.position)
    for note in (run.learner_home, run.replica):  # from now on the run is on this machine
        note.unlink(missing_ok=True)


def check_phone_losses(run: RunDirectory, say: Callable[[str], None], *, accept: bool) -> None:
    """Check `phones.json` likewise, before a lease; with `accept`, have phones chosen anew."""
    losses = phone_losses(run, read_progress(run)[0])
    if losses:
        _record(run, losses, say, accept=accept)
        run.phones.unlink(missing_ok=True)


def check_corpus(
    run: RunDirectory, lost: Iterable[str], say: Callable[[str], None], *, accept: bool
) -> None:
    """Raise `DataLost` if the corpus lacks what was learned from; with `accept`, record it."""
    accepted = {each.name for each in read_lines(run.losses, Loss)}
    reason = "was learned from, and is not in learning.corpus"
    losses = [Loss("trajectory", each, reason) for each in lost if each not in accepted]
    if losses:
        _record(run, losses, say, accept=accept)


def note_corpus_damage(run: RunDirectory, said: str) -> None:
    """Record once which part of a corpus cannot be read; the run goes on without it."""
    loss = Loss("file", "learning.corpus", said)
    if loss not in read_lines(run.losses, Loss):
        with LineLog.open(run.losses) as log:
            log.append(loss)


def _record(
    run: RunDirectory, losses: list[Loss], say: Callable[[str], None], *, accept: bool
) -> None:
    if not accept:
        raise DataLost(
            f"{run.path} has less than it had: {_words(losses)}. Nothing was changed. Put back "
            "what is missing and resume again, or go on without it, as another experiment: "
            f"distrl train --resume {run.path} --accept-losses"
        )
    with LineLog.open(run.losses) as log:
        log.append(*losses)
    say(f"going on without what was lost: {_words(losses)}")


def _losses(
    run: RunDirectory, store: TrajectoryStore, checkpoints: CheckpointFolder
) -> Iterator[Loss]:
    home = read_home(run)
    if home is not None and not run.metrics.exists():
        yield Loss("file", run.path.name, f"was never worked in here: its learner was on {home}")
    if run.replica.exists():
        note = _read_note(run.replica, ReplicaNote)
        yield Loss("file", run.path.name, f"is {note}: what came later is there alone")
    latest = checkpoints.latest()
    progress, missing = read_progress(run)
    yield from missing
    if progress.checkpoint and (latest is None or latest.name < progress.checkpoint):
        left = "none is left" if latest is None else f"{latest.name} is the newest left"
        yield Loss("file", f"checkpoints/{progress.checkpoint}", f"is gone, and {left}")
    if store.position < progress.position:
        reason = f"ends at position {store.position}, and was at {progress.position}"
        yield Loss("file", "trajectories", reason)
    for line in read_lines(run.episodes, EpisodeLine):
        if line.id not in store:
            yield Loss("trajectory", line.id, "is in episodes.jsonl, and not in the store")
    for _ in store.read():  # reads every byte; `damages` lists what cannot be read
        pass
    for damage in store.damages:
        yield Loss("trajectory", f"number {damage.seq}", damage.reason)


def _words(losses: list[Loss]) -> str:
    """Describe losses in a sentence: files by name, trajectories by how many there are."""
    counts = Counter(each.kind for each in losses)
    named = [f"{each.name} {each.reason}" for each in losses if each.kind == "file"]
    if counts["trajectory"]:
        some = [each for each in losses if each.kind == "trajectory"][:NAMED]
        which = "; ".join(f"{each.name} {each.reason}" for each in some)
        more = ", …" if counts["trajectory"] > NAMED else ""
        named.append(f"{counts['trajectory']} trajectories are lost ({which}{more})")
    return "; ".join(named)
