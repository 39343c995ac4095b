"""Kill a training run again and again; check that nothing is lost or counted twice (`make chaos`).

A real training run (`distrl train`, a tiny model, collectors in processes of their own) is sent
SIGKILLs at random moments: to one or more collectors, to the policy process where one decides for
all of them (every other run), and to the learner itself, which is then resumed. The next kill comes
as soon as some collectors have delivered since they were started, and mostly hits those: their
death can lose something, and the run replaces them without a pause. Between kills other faults are
injected: phones freeze for seconds, a collector hangs (SIGSTOP), the process that collectors are
forked from is killed, the end of the store's write-ahead log is torn as by a power cut,
half-written files are left in the run directory, and the disk is full for a while: really full
where a small disk may be mounted (`--disk`, needs root), else by a quota on file sizes. At last the
run is left alone and must end by itself. Then everything is counted:

    kills          SIGKILLs that hit a collector, the policy process or the learner
    acknowledged   trajectories whose collector was told that they are stored, by its own log
    lost           acknowledged, but not readable in the store
    doubled        ids that are in the store twice, in episodes.jsonl twice, or counted twice
    jumps          where the metrics go back in time, skip an update or have it twice

Then every file of a finished run is damaged in every way (`benchmarks.damage`), and no damage may
go unnoticed (`damage_silent`).

`--add` adds the figures to those of earlier batches, so that a thousand kills can be split over
several runs with seeds of their own, one after the other or side by side.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from benchmarks.acknowledgements import Acknowledgements
from benchmarks.damage import damage_figures
from benchmarks.power_cut import tear_files
from benchmarks.results_file import added, make_command, update_results, write_results
from benchmarks.run_figures import jumps
from benchmarks.run_processes import CpuPatience, by_log, forkservers
from benchmarks.small_disk import forbid_growth, small_disk, take_all_room
from benchmarks.train_runs import COMMAND, keep_output, set_words, tiny_model
from distrl.json_lines import read_lines
from distrl.process_environment import for_forkserver
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.metrics import read_points
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

SETTINGS = {
    "run.name": "chaos",
    "run.minutes": "10000",
    "run.free_gigabytes": "0.01",
    "run.checkpoint_minutes": "0.02",
    "tasks.templates": "clock.turn_off_alarm,clock.delete_alarm",
    "devices.count": "8",
    "devices.clock": "scaled",
    "devices.clock_speed": "100",  # a frozen phone times out after 3 real seconds
    "devices.faults.freeze": "0.002",
    "agent.policy.sampling.max_new_tokens": "3",
    "collection.collectors": "8",
    "collection.heartbeat_seconds": "0.5",
    "collection.restarts": "1000",
    "pacing.samples_per_insert": "1",
    "pacing.minimum_fill": "2",
    "pacing.tolerance": "8",
    "learning.learner.batch_trajectories": "2",
    "learning.learner.refresh_trajectories": "0",
    "learning.learner.updates_per_publish": "1",
    "evaluation.before": "0",
    "evaluation.after": "0",
    "reporting.recordings": "0",
    "reporting.line_seconds": "5",
}
LEARNER_SHARE = 0.15  # of the kills; each costs a process start with all imports
ENDING_UPDATES = 30  # updates that the run must still make when it is left alone
STRUCK_AT = 4  # at most so many collectors must be at work before the next kill
YOUNG_SHARE = 0.2  # share of the kills that also hit collectors which have not delivered yet
CYCLE_SECONDS = 0.5  # time to play and deliver; kills come at a random moment of it
POLL_SECONDS = 0.05
PATIENCE, ENDING_PATIENCE = 180.0, 600.0  # CPU seconds until an awaited event, and until the end
LONGEST_WAIT = 1800.0  # seconds
LISTEN_SECONDS = 10.0  # for the last output of a run that has ended


@dataclass(slots=True)
class Chaos:
    """One run, and the faults injected into it."""

    folder: Path
    asked: Sequence[str]  # arguments of `distrl train`
    console: Console
    rng: random.Random
    process: subprocess.Popen[bytes] | None = None
    run: RunDirectory | None = None
    own_disk: bool = False  # the folder is a disk of its own, which may be filled
    kills: int = 0
    done: Counter[str] = field(default_factory=Counter)
    _told: Acknowledgements | None = None
    _began_at: int = 0  # offset in the log where the output of the current process starts
    _was_full: bool = False  # was the disk full for the current process?
    _listener: threading.Thread | None = None  # copies the output of the process to the log

    # The run ------------------------------------------------------------------------------------

    def start(self, *more: str) -> None:
        """Start the run, or resume it."""
        words = list(self.asked if self.run is None else ("--resume", str(self.run.path)))
        for each in more:
            words += ["--set", each]
        self._listen_to_the_end()
        log = self.folder / "log"
        log.touch()
        self._began_at, self._was_full = log.stat().st_size, False
        self.process = subprocess.Popen(
            [*COMMAND, *words],
            env=for_forkserver(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._listener = threading.Thread(
            target=keep_output, args=(self.process.stdout, log), daemon=True
        )
        self._listener.start()

    def _listen_to_the_end(self) -> None:
        """Wait until the last output of an ended process is in the log."""
        if self._listener is not None:
            self._listener.join(LISTEN_SECONDS)

    @property
    def told(self) -> Acknowledgements:
        assert self._told is not None
        return self._told

    def begin(self) -> None:
        self.start(f"run.directory={self.folder / 'runs'}")
        self.wait_until(lambda: list(self.folder.glob("runs/*/config.toml")), "a run directory")
        [path] = self.folder.glob("runs/*")
        self.run = RunDirectory(path)
        self._told = Acknowledgements(path / "logs")

    def collectors(self) -> dict[int, str]:
        assert self.run is not None
        return by_log(self.run, "collector")

    def pids(self) -> list[int]:
        """Return all processes of the run that use the CPU."""
        assert self.process is not None
        found = [self.process.pid, *forkservers(self.process.pid)]
        if self.run is not None:
            found += [*self.collectors(), *by_log(self.run, "policy")]
        return found

    def wait_until(self, what: Callable[[], object], name: str) -> None:
        assert self.process is not None
        patience = CpuPatience(self.pids, PATIENCE, LONGEST_WAIT)
        while not what():
            if self.process.poll() is not None and not self._goes_on_after_full_disk():
                raise SystemExit(f"the run ended while waiting for {name}: {self.last_words()}")
            if patience.is_over():
                used = f"{patience.used:.0f} CPU seconds"
                raise SystemExit(f"no {name} within {used} of the run: {self.last_words()}")
            time.sleep(POLL_SECONDS)

    def wait_for_end(self) -> None:
        """Wait until the current process ends, with any exit code."""
        assert self.process is not None
        patience = CpuPatience(self.pids, ENDING_PATIENCE, LONGEST_WAIT)
        while self.process.poll() is None:
            if patience.is_over():
                raise SystemExit(f"the run does not end: {self.last_words()}")
            time.sleep(POLL_SECONDS)

    def last_words(self) -> str:
        return (self.folder / "log").read_text("utf-8", "replace")[-2000:]

    # Faults -------------------------------------------------------------------------------------

    def torment(self, kills: int) -> None:
        began = time.monotonic()
        while self.kills < kills:
            self.let_it_work()
            self.strike()
            took = f"{time.monotonic() - began:.0f} s"
            said = f"{self.kills} kills, {self.told.look()} acknowledged, {took}"
            self.console.print(said, highlight=False)
        self.done["seconds"] += round(time.monotonic() - began)

    def strike(self) -> None:
        """Kill the learner, the policy process or collectors, or inject another fault."""
        drawn = self.rng.random()
        if drawn < LEARNER_SHARE:
            self.kill_learner()
        elif drawn < 2 * LEARNER_SHARE and self.kill_policy():
            return
        else:
            self.hurt_collectors()

    def let_it_work(self) -> None:
        """Wait for some deliveries and a random moment: an idle collector has nothing to lose."""
        wanted = self.rng.randint(1, STRUCK_AT)
        self.wait_until(lambda: len(self.told.at_work()) >= wanted, f"{wanted} collectors at work")
        time.sleep(self.rng.uniform(0.0, CYCLE_SECONDS))

    def hurt_collectors(self) -> None:
        at_work, found = self.told.at_work(), self.collectors()
        young = self.rng.random() < YOUNG_SHARE
        found = {pid: name for pid, name in found.items() if young or name in at_work}
        if not found:
            return
        victims = self.rng.sample(list(found), self.rng.randint(1, len(found)))
        if self.rng.random() < 0.05:
            self._signal(victims[0], signal.SIGSTOP, "hung")
        elif self.rng.random() < 0.05:
            assert self.process is not None
            for each in forkservers(self.process.pid):
                self._signal(each, signal.SIGKILL, "forkserver_killed")
        else:
            hit = [self._signal(each, signal.SIGKILL, "collector_killed") for each in victims]
            self.kills += sum(hit)
            self.told.forget(found[each] for each in victims)

    def kill_policy(self) -> bool:
        """Kill the process that decides for all collectors; return False if there is none."""
        assert self.run is not None
        hit = [
            self._signal(each, signal.SIGKILL, "policy_killed")
            for each in by_log(self.run, "policy")
        ]
        self.kills += sum(hit)
        return any(hit)

    def kill_learner(self) -> None:
        assert self.process is not None
        if self.process.poll() is not None and self._goes_on_after_full_disk():
            return
        self.process.kill()
        self.process.wait()
        self.told.forget(self.told.at_work())
        self.kills += 1
        self.done["learner_killed"] += 1
        if self.rng.random() < 0.5:
            assert self.run is not None
            self.done["logs_torn"] += tear_files(self.run, self.rng)
            self.done["files_damaged"] += 1
        full = self.rng.random() < 0.2
        self.start()
        before = self.told.look()
        if full:
            self.fill_the_disk()
        self.wait_until(lambda: self.told.look() > before, "a trajectory after a resume")

    def fill_the_disk(self) -> None:
        """Make writes fail for a while with the kernel's error for a full disk."""
        assert self.process is not None
        self.wait_until(self.collectors, "collectors")
        seconds = self.rng.uniform(1.0, 4.0)
        if self.own_disk:
            take_all_room(self.folder, seconds)
        else:
            forbid_growth(self.process, seconds)
        self.done["disk_full"] += 1
        self._was_full = True

    def _goes_on_after_full_disk(self) -> bool:
        """Resume a run that stopped with `StorageFull` because its records could not be written."""
        self._listen_to_the_end()
        said = (self.folder / "log").read_bytes()[self._began_at :]
        if not self._was_full or b"StorageFull: " not in said:
            return False
        self.done["ended_by_full_disk"] += 1
        self.start()
        return True

    def _signal(self, pid: int, number: signal.Signals, name: str) -> bool:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        self.done[name] += 1
        return True

    # The end of the run -------------------------------------------------------------------------

    def finish(self) -> None:
        """Stop the run, resume it undisturbed, and wait until it ends by itself."""
        assert self.process is not None
        assert self.run is not None
        self.process.send_signal(signal.SIGTERM)
        self.wait_for_end()
        self.start(f"run.updates={self.updates() + ENDING_UPDATES}")
        self.wait_for_end()
        if self.process.returncode or not self.run.result.exists():
            raise SystemExit(f"the run did not end well: {self.last_words()}")

    def updates(self) -> int:
        assert self.run is not None
        return max((p.updates for p in read_points(self.run.metrics)), default=0)

    def figures(self) -> dict[str, float]:
        assert self.run is not None
        said = self.told.all_ids()
        stored = Counter(s.trajectory.id for s in TrajectoryReader(self.run.trajectories).read())
        noted = Counter(line.id for line in read_lines(self.run.episodes, EpisodeLine))
        result = json.loads(self.run.result.read_text())
        doubled = sum(n > 1 for n in (*stored.values(), *noted.values()))
        return {
            "kills": self.kills,
            "acknowledged": len(set(said)),
            "lost": len(set(said) - set(stored)),
            "doubled": doubled + abs(result["trajectories"] - len(stored)),
            "jumps": jumps(self.run),
            "stored": len(stored),
            "updates": result["updates"],
            **self.done,
        }


def tiny_run(folder: Path, policy: str) -> list[str]:
    """Return settings of a run that restarts in seconds; `policy` is its `engine.policy`."""
    return set_words({**SETTINGS, "agent.model": tiny_model(folder), "engine.policy": policy})


def killed_run(chaos: Chaos, kills: int) -> dict[str, float]:
    try:
        chaos.begin()
        chaos.torment(kills)
        chaos.finish()
        return chaos.figures()
    finally:
        if chaos.process is not None and chaos.process.poll() is None:
            chaos.process.kill()
            chaos.process.wait()


def chaos_figures(chosen: argparse.Namespace, folder: Path, console: Console) -> dict[str, float]:
    """Kill first, then damage files; 0 kills or 0 flips skip that part."""
    rng = random.Random(f"chaos/{chosen.seed}")
    figures: dict[str, float] = {}
    if chosen.kills:
        policy = "node" if chosen.seed % 2 else "auto"
        chaos = Chaos(folder, tiny_run(folder, policy), console, rng, own_disk=chosen.disk)
        figures |= killed_run(chaos, chosen.kills)
    if chosen.flips:
        say = functools.partial(console.print, highlight=False, markup=False)
        figures |= damage_figures(folder / "damage", rng, chosen.flips, say)
    return figures


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--kills", type=int, default=1000)
    words.add_argument("--flips", type=int, default=5, help="random bits flipped in every file")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--keep", type=Path)
    words.add_argument("--add", action="store_true", help="add up with the batches so far")
    words.add_argument("--disk", action="store_true", help="use a small disk, and fill it")
    chosen = words.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no run is left behind
    console = Console()
    with tempfile.TemporaryDirectory(prefix="distrl-chaos-") as scratch:
        folder = chosen.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        with small_disk(folder) if chosen.disk else contextlib.nullcontext():
            figures = chaos_figures(chosen, folder, console)
    for name, value in figures.items():
        console.print(f"{name:20} {value:g}", highlight=False)
    if not chosen.kills:  # damage alone: figures of earlier kills stay
        console.print(update_results("chaos", figures, "damage"))
    elif chosen.add or chosen.kills >= 200:
        batches = added("chaos", figures) if chosen.add else figures
        console.print(write_results("chaos", batches, make_command("chaos")))
    if any(figures.get(name) for name in ("lost", "doubled", "jumps", "damage_silent")):
        raise SystemExit("chaos has won")


if __name__ == "__main__":
    main()
