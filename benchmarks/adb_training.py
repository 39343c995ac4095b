"""Check that training over adb gives the same result as without it (`make bench-adb-training`).

Each of two trainings runs twice from the same seeds: once on simulated phones in this process, once
on phones of another process (`distrl phone serve`), with screenshots and touches going through a
real adb server and our adb client.

- `table`: A-RIDE from scratch. The policy is a table over screens, uniform at first over the
  sixteen actions that six short tasks need. Collector, batcher, devices, judge, replay, priorities
  and learner are the real ones. It learns within minutes, so that success can be compared.
- `model`: the starter model in the whole engine, as `distrl train quick_start` runs it in one
  process, for a few updates.

Everything runs in lockstep, so the two runs must be identical: `same_trajectories` is the share of
episodes whose screens, tokens, log-probabilities and endings are equal bit for bit, `same_weights`
the share of weight tensors that are equal at the end. `--quick` runs a little of both and writes
nothing.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch import Tensor

from benchmarks.results_file import write_results
from benchmarks.served_phones import adb_server, connected_phones
from benchmarks.tabular_policy import TabularPolicy
from distrl.cli.train import new_directory
from distrl.config.training_config import load_config
from distrl.devices.adb.android_phones import open_phone
from distrl.devices.adb.android_settings import AndroidSettings
from distrl.devices.adb.simulated_adb_device import SimulatedAdbDevice
from distrl.engine.local.local_engine import LocalEngine
from distrl.episodes.collector import Collector
from distrl.episodes.collector_settings import CollectorSettings
from distrl.episodes.demonstrations import demonstrate
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.policy_batcher import PolicyBatcher, WeightUpdater
from distrl.json_lines import read_lines
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.checkpoint import read_checkpoint
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import Waiting
from distrl.learning.learner_settings import LearnerSettings
from distrl.records import Action, Back, Ending, Home, Observation, Screen, Tap, Task, Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings
from distrl.replay.compressed_screen import CompressedScreen
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine
from distrl.task_sets.curriculum import State
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

TASKS = tuple(
    f"{name}/train/0"
    for name in (
        "mail.star", "clock.turn_off_alarm", "settings.quick_on", "settings.quick_off",
        "notes.pin", "mail.archive",
    )
)  # fmt: skip
PHONES = 4
ROUND = 16  # episodes collected between two rounds of learner steps
WORDS = 4  # size of the vocabulary; an answer has two tokens, which makes sixteen actions
CONSOLE = Console(width=120)
Bits = tuple[object, ...]
Phone = SimulatedDevice | SimulatedAdbDevice


class ScreenTable(TabularPolicy):
    """A table policy whose state is instruction and screen, hashed into 256 rows."""

    def __init__(self, answers: Mapping[tuple[int, ...], Action], seed: int) -> None:
        super().__init__(256, WORDS, answers, seed=seed)
        self._digests: dict[str, str] = {}  # by address; unpacks once

    def state_of(self, observation: Observation) -> int:
        seen = f"{observation.instruction}\n{self._digest(observation.screen)}"
        return zlib.crc32(seen.encode()) % self.states

    def _digest(self, screen: Screen) -> str:
        if not isinstance(screen, CompressedScreen):
            return screen.digest
        if screen.address not in self._digests:
            self._digests[screen.address] = screen.digest
        return self._digests[screen.address]


class TasksInTurn:
    """Implements `TaskSource`: repeats the given tasks in order."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._next = 0

    def next_task(self) -> Task:
        self._next += 1
        return self._tasks[(self._next - 1) % len(self._tasks)]

    def hear(self, task: Task, ending: Ending) -> None:
        """Ignore the ending: the order of tasks is fixed."""

    def find(self, task_id: str) -> Task:
        return next(task for task in self._tasks if task.id == task_id)

    def state(self) -> State:
        return {"next": self._next}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._next = int(state["next"])


class Circle:
    """Both channels between collector and learner: trajectories one way, weights the other."""

    def __init__(self) -> None:
        self.arrivals: deque[Trajectory] = deque()
        self._newest: tuple[Mapping[str, Tensor], int] | None = None

    def put(self, trajectory: Trajectory) -> bool:
        self.arrivals.append(trajectory)
        return True

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None:
        self._newest = (weights, version)

    def newer_than(self, version: int) -> tuple[Mapping[str, Tensor], int] | None:
        return self._newest if self._newest and self._newest[1] > version else None


@dataclass(frozen=True)
class Run:
    """The result of one training."""

    episodes: list[Bits]
    successes: list[bool]
    weights: dict[str, Tensor]
    updates: int
    steps: int
    seconds: float  # for the table, of collection alone; for the model, of the whole training

    def success(self, part: slice) -> float:
        return statistics.fmean(self.successes[part])


# A table, from nothing ---------------------------------------------------------------------------


def actions_of(tasks: Sequence[Task]) -> list[Action]:
    """Return up to sixteen actions: those of the scripted solutions first, then fillers."""
    found: list[Action] = []
    for task in tasks:
        shown = demonstrate(task, SimulatedDevice("shown"), open_by_name=True)
        found += [decision.action for decision in shown.decisions[:-1]]  # all but the final "done"
    others: list[Action] = [Back(), Home(), *(Tap(0.5, share / 10) for share in range(1, 10))]
    return list(dict.fromkeys([*found, *others]))[: WORDS**2]


def learner_of(circle: Circle, policy: ScreenTable, seed: int) -> Learner:
    step = GradientStep(policy, StepSettings(learning_rate=0.15, critic_learning_rate=0.05))
    return Learner(
        policy,
        ARide(step, ARideSettings(discount=0.9, advantage="signed")),  # as measured
        step,
        ReplayBuffer(ReplaySettings(capacity=256)),
        Pacing(samples_per_insert=2.0, minimum_fill=ROUND, tolerance=2.0 * ROUND),
        circle.arrivals,
        circle,
        LearnerSettings(batch_trajectories=ROUND, updates_per_publish=1, seed=seed),
    )


def train_table(devices: Sequence[Phone], seed: int, rounds: int, name: str) -> Run:
    tasks = [load_task(task_id)[0] for task_id in TASKS]
    answers: dict[tuple[int, ...], Action] = {
        divmod(place, WORDS): action for place, action in enumerate(actions_of(tasks))
    }
    playing, learning = (ScreenTable(answers, seed) for _ in range(2))
    circle = Circle()
    learner = learner_of(circle, learning, seed)
    collector: Collector[Phone] = Collector(
        "collector-0",
        PolicyBatcher(playing, updater=WeightUpdater(playing, circle)),
        DevicePool(devices),
        TasksInTurn(tasks),
        circle,
        FactJudge,
        settings=CollectorSettings(stop_on_success=True),
    )
    played: list[Trajectory] = []
    seconds = 0.0
    for _ in track(range(rounds), name, console=CONSOLE, transient=True):
        begun = time.perf_counter()
        played += collector.collect(ROUND)
        seconds += time.perf_counter() - begun
        while not isinstance(learner.step(), Waiting):
            pass
    return Run(
        [bits_of(each) for each in played],
        [each.success for each in played],
        learning.weights(),
        learner.updates,
        sum(len(each.decisions) for each in played),
        seconds,
    )


def bits_of(trajectory: Trajectory) -> Bits:
    screens = tuple(screen.digest for screen in trajectory.screens)
    return trajectory.id, trajectory.task.id, trajectory.ending, trajectory.decisions, screens


# The starter model, in the whole engine ----------------------------------------------------------


def train_model(updates: int, overrides: Sequence[str]) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        settings = (
            f"run.directory={folder}", f"run.updates={updates}", "run.minutes=600",
            "run.seed=1", "collection.mode=one_process", f"devices.count={PHONES}",
            "evaluation.before=0", "evaluation.after=0", *overrides,
        )  # fmt: skip
        config = load_config(Path("quick_start"), list(settings))
        run = new_directory(config)
        begun = time.perf_counter()
        LocalEngine(config, run, Console(quiet=True)).train()
        seconds = time.perf_counter() - begun
        lines = list(read_lines(run.episodes, EpisodeLine))
        return Run(
            [(line.id, line.task, line.ending, line.steps) for line in lines],
            [line.success for line in lines],
            learned(run),
            updates,
            sum(line.steps for line in lines),
            seconds,
        )


def learned(run: RunDirectory) -> dict[str, Tensor]:
    """Return every tensor of the last checkpoint: weights, optimisers, critic."""
    [*_, newest] = sorted(run.checkpoints.iterdir())
    found: dict[str, Tensor] = {}

    def walk(value: object, path: str) -> None:
        if isinstance(value, Tensor):
            found[path] = value
        elif isinstance(value, dict):
            for name, each in value.items():
                walk(each, f"{path}/{name}")

    walk(read_checkpoint(newest)["learner"], "")
    return found


# Side by side ------------------------------------------------------------------------------------


def same(one: Sequence[object], other: Sequence[object]) -> float:
    """Return the share of equal items, relative to the longer sequence."""
    return sum(a == b for a, b in zip(one, other, strict=False)) / max(len(one), len(other))


def same_weights(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> float:
    names = one.keys() | other.keys()
    equal = [
        name in one and name in other and torch.equal(one[name], other[name]) for name in names
    ]
    return statistics.fmean(equal)


def table_figures(pairs: Sequence[tuple[Run, Run]]) -> dict[str, float]:
    """Compute the table's figures; `first` and `last` are four rounds each, over all seeds."""
    first, last = slice(4 * ROUND), slice(-4 * ROUND, None)
    figures: dict[str, float] = {"table_seeds": len(pairs)}
    for place, way in enumerate(("direct", "adb")):
        runs = [pair[place] for pair in pairs]
        figures |= {
            f"table_first_success_{way}": statistics.fmean(run.success(first) for run in runs),
            f"table_last_success_{way}": statistics.fmean(run.success(last) for run in runs),
            f"table_step_ms_{way}": 1000
            * sum(run.seconds for run in runs)
            / sum(run.steps for run in runs),
        }
    return figures | {
        "table_episodes": sum(len(direct.episodes) for direct, _ in pairs),
        "table_updates": sum(direct.updates for direct, _ in pairs),
        "table_same_trajectories": statistics.fmean(same(a.episodes, b.episodes) for a, b in pairs),
        "table_same_weights": statistics.fmean(
            same_weights(a.weights, b.weights) for a, b in pairs
        ),
    }


def model_figures(direct: Run, over_adb: Run) -> dict[str, float]:
    return {
        "model_updates": direct.updates,
        "model_episodes": len(direct.episodes),
        "model_steps": direct.steps,
        "model_success_direct": direct.success(slice(None)),
        "model_success_adb": over_adb.success(slice(None)),
        "model_same_trajectories": same(direct.episodes, over_adb.episodes),
        "model_same_weights": same_weights(direct.weights, over_adb.weights),
        "model_weight_tensors": len(direct.weights),
        "model_seconds_direct": direct.seconds,
        "model_seconds_adb": over_adb.seconds,
    }


def shown(figures: Mapping[str, float]) -> Table:
    table = Table(title="Training with and without adb", title_justify="left")
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in figures.items():
        table.add_row(name, f"{value:.4g}")
    return table


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--seeds", type=int, default=3, help="trainings of the table")
    options.add_argument("--rounds", type=int, default=60, help=f"of {ROUND} episodes each")
    options.add_argument("--updates", type=int, default=12, help="of the starter model")
    chosen = options.parse_args()
    quick = chosen.quick
    seeds, rounds, updates = (1, 5, 1) if quick else (chosen.seeds, chosen.rounds, chosen.updates)
    torch.set_num_threads(1)
    with adb_server() as server, connected_phones(server, PHONES) as serials:
        pairs = []
        for seed in range(seeds):
            direct = [SimulatedDevice(f"phone-{number}") for number in range(PHONES)]
            one = train_table(direct, seed, rounds, f"seed {seed}, direct")
            served = [
                phone
                for number, serial in enumerate(serials)
                if isinstance(
                    phone := open_phone(f"phone-{number}", serial, server, AndroidSettings()),
                    SimulatedAdbDevice,
                )
            ]
            pairs.append((one, train_table(served, seed, rounds, f"seed {seed}, adb")))
        figures = table_figures(pairs)
        CONSOLE.print(shown(figures))
        over_adb = (
            "devices.kind=adb",
            f"devices.serials={','.join(serials)}",
            f"devices.android.adb_port={server.port}",
        )
        figures |= model_figures(train_model(updates, ()), train_model(updates, over_adb))
    figures = {name: round(float(value), 4) for name, value in figures.items()}
    CONSOLE.print(shown(figures))
    if not quick:
        CONSOLE.print(f"written to {write_results('adb-training', figures)}", highlight=False)


if __name__ == "__main__":
    main()
