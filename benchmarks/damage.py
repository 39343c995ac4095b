"""Damage every file of a finished run in every way, and check how its readers react.

The subject is a small run with every kind of file (`whole_run`), its copy on a second machine and
the spool of a joined collector. In a copy of these, one file is damaged (a flipped bit, a cut,
zeros, random bytes, or removed), and every reader of that file reads the copy: the report, the
trajectories as a corpus, the policies as models, the cache of a judge, the identity that collectors
join by, the spool, and `distrl train --resume`, with `--accept-losses` where it asks for that. The
result is compared with that of the whole run:

    repaired   the same; the damage was in nothing that is needed, or was repaired
    reported   something else, and the report, the result or a message says what is missing
    refused    a typed error
    silent     something else without a message, or an untyped error: a bug in DistRL
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console

from benchmarks.whole_run import JUDGE, QUESTIONS, FallenSuccess, World, whole_run
from distrl.agent.loading import load_policy
from distrl.cli.train import run_command
from distrl.engine.join.identity import Identity
from distrl.engine.join.join_sessions import read_members
from distrl.engine.join.trajectory_spool import TrajectorySpool
from distrl.engine.run.best_weights import BestWeights
from distrl.engine.run.resume import corpus
from distrl.errors import DataLost, DistrlError
from distrl.json_lines import read_lines
from distrl.judging.vlm_judge import JudgeCache
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.reporting.report import UNFINISHED, report_page
from distrl.reporting.run_story import read_story
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import MEMBERS
from distrl.runs.run_records import EpisodeLine
from distrl.weights.weight_store import WeightStore

Outcome = Literal["repaired", "reported", "refused", "silent"]
WORST: tuple[Outcome, ...] = ("repaired", "reported", "refused", "silent")
RESUMED = ("evaluation.after=0",)  # nothing is played: a resume costs a second
GONE = "this picture is gone or damaged"
TIMED = (  # figures that differ from one resume to the next
    "wall_s", "training_s", "phone_time", "learner_time", "phones_waiting_share", "crc32",
)  # fmt: skip


# What is done to a file ---------------------------------------------------------------------------


def flipped(data: bytes, at: int, rng: random.Random) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1 << rng.randrange(8)
    return bytes(changed)


def zeroed(data: bytes, at: int) -> bytes:
    """Zero up to 512 bytes, as a lost disk block does."""
    end = min(len(data), at + 512)
    return data[:at] + bytes(end - at) + data[end:]


def damages(data: bytes, rng: random.Random, flips: int) -> dict[str, bytes | None]:
    """Return damaged contents by the kind of damage; None means that the file is removed."""
    if not data:
        return {"random bytes": rng.randbytes(64), "removed": None}
    size = len(data)
    places = [0, size // 2, size - 1, *(rng.randrange(size) for _ in range(flips))]
    ways: dict[str, bytes | None] = {
        f"bit flipped at {at}": flipped(data, at, rng) for at in places
    }
    ways |= {f"cut to {at}": data[:at] for at in (0, size // 2, size - 1, rng.randrange(size))}
    if b"\n" in data[:-1]:  # a log cut at a line end does not show that lines are missing
        at = data.rindex(b"\n", 0, -1) + 1
        ways[f"cut to {at}, without the last line"] = data[:at]
    at = rng.randrange(size)
    ways |= {"random bytes": rng.randbytes(size), f"zeros at {at}": zeroed(data, at)}
    return {**ways, "removed": None}


# What reads a run ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of one reader; equal digests mean equal results."""

    digest: str
    said: str = ""  # messages about missing data


def read_report(world: World) -> Reading:
    story = read_story(world.run)
    page = report_page(story)
    missing = [f"{each.name} {each.reason}" for each in story.losses] + [GONE] * page.count(GONE)
    missing += [UNFINISHED] * page.count(UNFINISHED)
    return Reading(_digest(page), "; ".join(missing))


def read_corpus(world: World) -> Reading:
    said: list[str] = []
    digest = hashlib.blake2b()
    for trajectory in corpus(str(world.run.path), said.append):
        digest.update(encode_trajectory(trajectory))
    return Reading(digest.hexdigest(), " ".join(said))


def read_policy(world: World) -> Reading:
    policy = load_policy(str(world.run.path), device="cpu", greedy=True)
    return Reading(_digest_of(policy.weights()))


def read_best_policy(world: World) -> Reading:
    policy = load_policy(str(world.run.best_policy), device="cpu", greedy=True)
    return Reading(_digest_of(policy.weights()))


def read_best_weights(world: World) -> Reading:
    """Export the best weights once more, as at the end of a run."""
    said: list[str] = []
    shutil.rmtree(world.run.best_policy)
    policy = load_policy(str(world.run.path), device="cpu", greedy=True)
    store = WeightStore(world.run.weights)
    BestWeights(world.run, store, FallenSuccess(), said.append).export_if_fallen(policy)
    made = read_best_policy(world).digest if world.run.best_policy.exists() else ""
    return Reading(made, " ".join(said))


def read_judge_cache(world: World) -> Reading:
    """Look up the earlier verdicts; a missing one would be asked again."""
    missing = [f"{each.name} {each.reason}" for each in read_story(world.run).losses]
    with logged() as said, JudgeCache(world.run.judge_cache) as cache:
        found = [cache.find(key, JUDGE) for key in QUESTIONS]
    return Reading(repr(found), "; ".join(missing + said))


def read_join(world: World) -> Reading:
    """Return the learner's identity for joining collectors, and the members that have joined."""
    missing = [f"{each.name} {each.reason}" for each in read_story(world.run).losses]
    identity = Identity.in_folder(world.run.path / "join")
    known = (identity.fingerprint, identity.token(), read_members(world.run.path / MEMBERS))
    return Reading(repr(known), "; ".join(missing))


def read_spool(world: World) -> Reading:
    """Return what a joined collector would deliver, and its member id."""
    with logged() as said, TrajectorySpool(world.spool, max_waiting=9) as spool:
        member = spool.member
        spool.begin("run")
        if elsewhere := spool.elsewhere():
            said.append(f"{elsewhere} wait for other runs")
        waiting = [(each.id, _digest(each.data)) for each in spool.batch(0.0)]
    return Reading(repr((member, waiting)), "; ".join(said))


def read_copy(world: World) -> Reading:
    """Resume the run's copy, which must be refused unless losses are accepted."""
    if not world.copy.path.exists():
        return Reading("no Ray, no copy")
    try:
        resume_run(world.copy)
    except DataLost:
        return Reading("refused")
    return Reading("resumed")


@contextmanager
def logged() -> Iterator[list[str]]:
    """Collect the warnings and errors that a user would see in the terminal."""
    said: list[str] = []
    listener = logging.Handler(logging.WARNING)
    listener.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("distrl")
    log.addHandler(listener)
    try:
        yield said
    finally:
        log.removeHandler(listener)


def resume(world: World) -> Reading:
    return resume_run(world.run)


def resume_run(run: RunDirectory, *, accept_losses: bool = False) -> Reading:
    """Resume the run to its end, and return everything that it then contains."""
    output = Console(file=io.StringIO(), width=1000)
    run_command(output, None, RESUMED, run.path, dry_run=False, accept_losses=accept_losses)
    result = json.loads(run.result.read_text("utf-8"))
    missing = {name: result.pop(name) for name in ("lost_trajectories", "damaged_files")}
    for name in TIMED:
        result.pop(name)
    evaluated = (run.evaluations.read_bytes(), run.recordings.read_bytes())
    world = World(run.path.parent)
    facts = (
        sorted(result.items()),
        [(line.id, line.ending, line.steps) for line in read_lines(run.episodes, EpisodeLine)],
        [(p.updates, sorted(p.figures)) for p in read_points(run.metrics)],
        [_digest(part) for part in evaluated],
        read_corpus(world).digest,
        read_policy(world).digest,
        _digest_of(WeightStore(run.weights).load().weights),
    )
    return Reading(_digest(repr(facts)), repr(sorted(missing.items())))


def _digest(content: bytes | str) -> str:
    plain = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(plain).hexdigest()


def _digest_of(weights: Mapping[str, object]) -> str:
    digest = hashlib.blake2b()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.detach().cpu().numpy().tobytes().hex()}".encode())  # type: ignore[attr-defined]
    return digest.hexdigest()


READERS: dict[str, Callable[[World], Reading]] = {
    "report": read_report,
    "corpus": read_corpus,
    "policy": read_policy,
    "best policy": read_best_policy,
    "best weights": read_best_weights,
    "judge": read_judge_cache,
    "join": read_join,
    "spool": read_spool,
    "copy": read_copy,
    "resume": resume,
}
SHOWN = ("config.toml", "progress.json", "result.json", "card.json")  # the report reads them


def readers_of(file: str) -> tuple[str, ...]:
    """Return the readers of a file; a resume comes last, since it changes the run."""
    place, _, name = file.partition("/")
    folder, _, rest = name.partition("/")
    if place != "run":
        return (place,)
    if name == "judge_cache.jsonl":
        return ("report", "judge", "resume")
    if not rest:
        return ("report", "resume") if name.endswith(".jsonl") or name in SHOWN else ("resume",)
    return {
        "policy": ("policy",),  # a resume rewrites it
        "best_policy": ("best policy",),
        "best_weights": ("best weights",),
        "join": ("join", "resume"),
        "pictures": ("report", "resume"),
        "trajectories": ("corpus", "resume"),
    }.get(folder, ("resume",))


# The comparison -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """One damage of one file, and its outcome."""

    file: str
    way: str
    outcome: Outcome
    why: str


class DamagedRuns:
    """Copies of a whole run, each with one damage, read by every reader of the file."""

    def __init__(self, folder: Path, whole: World) -> None:
        self._folder = folder
        self._whole = whole
        self._expected: dict[str, Reading] = {}

    def content(self, name: str) -> bytes:
        return (self._whole.path / name).read_bytes()

    def cases(self, rng: random.Random, flips: int) -> Iterator[Case]:
        """Yield every damage of every file."""
        for name in self._whole.files():
            for way, content in damages(self.content(name), rng, flips).items():
                yield self.case(name, way, content)

    def case(self, name: str, way: str, content: bytes | None) -> Case:
        """Damage one file of a copy; the outcome is the worst among its readers."""
        for reader in set(readers_of(name)) - self._expected.keys():
            self._expected[reader] = READERS[reader](self._copy())
        found = {reader: self._outcome(reader, name, content) for reader in readers_of(name)}
        reader = max(found, key=lambda each: WORST.index(found[each][0]))
        outcome, why = found[reader]
        return Case(name, way, outcome, f"{reader}: {why}")

    def _outcome(self, reader: str, name: str, content: bytes | None) -> tuple[Outcome, str]:
        world = self._copy(name, content)
        expected = self._expected[reader]
        try:
            try:
                reading = READERS[reader](world)
            except DataLost as error:
                if "--accept-losses" not in str(error):
                    raise
                reading = resume_run(world.run, accept_losses=True)
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

    def _copy(self, damaged: str = "", content: bytes | None = None) -> World:
        path = self._folder
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self._whole.path, path)
        if damaged and content is None:
            (path / damaged).unlink()
        elif damaged:
            (path / damaged).write_bytes(content or b"")
        return World(path)


def damage_figures(
    folder: Path, rng: random.Random, flips: int, say: Callable[[str], None]
) -> dict[str, float]:
    """Damage every file of a run; return these figures of `make chaos`."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = whole_run(folder)
    runs = DamagedRuns(folder / "copies", whole)
    counts: Counter[str] = Counter()
    for case in runs.cases(rng, flips):
        counts[case.outcome] += 1
        if case.outcome == "silent":
            say(f"silent: {case.file}, {case.way}: {case.why}")
    figures: dict[str, float] = {"damaged_files": len(whole.files()), "damages": counts.total()}
    return figures | {f"damage_{name}": counts[name] for name in WORST}
