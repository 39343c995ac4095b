"""Measure the replay's speed and memory (`make bench-replay`).

Insert, draw and re-prioritise at 10², 10⁴ and 10⁶ entries, per trajectory: inserts one at a time
into a full ring (so that each insert evicts one), draws and updates in batches of 32. Beside ours,
in the same run: cpprb, which holds one number for each trajectory where we hold the trajectory;
TorchRL's prioritised buffer, likewise, where its native part loads (its wheels up to 0.14.1 do not
with torch 2.13; the table shows the reason); and the released code's buffer, rebuilt
(`original_replay_buffer`), whose entries are steps, five to a trajectory. Its update is a refresh
of everything, extrapolated from the first 200 trajectories. Each figure is the median of five
repetitions, in CPU time: other load on the machine does not count. Our trajectories here have one
step and share one packed screen, so that a million of them fit into memory; the cost of inserting a
real one is measured separately.
"""

from __future__ import annotations

import gc
import importlib
import io
import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

from benchmarks.original_replay_buffer import FEATURES, OriginalReplayBuffer
from benchmarks.results_file import write_results
from distrl.episodes.demonstrations import demonstrate
from distrl.records import Decision, Done, Ending, Screen, Task, Trajectory, Verdict
from distrl.replay.buffer.entries import record_bytes
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings
from distrl.replay.compressed_screen import CompressedScreen, compress
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task, template_names

SIZES = {"1e2": 100, "1e4": 10_000, "1e6": 1_000_000}
BATCH = 32
TURNS = 5
TURN_SECONDS = 0.2
CHUNK = 16  # operations between two reads of the clock
CONSOLE = Console()
Figures = dict[str, float]


class Contender(Protocol):
    """A replay of a given size, full from the start."""

    def newcomers(self, n: int) -> list[Any]:
        """Return trajectories to insert, made before the clock starts."""

    def insert(self, newcomer: Any) -> None: ...

    def sample(self) -> Any:
        """Draw a batch; return what `update` needs to know of it."""

    def update(self, drawn: Any) -> None: ...


class Ours:
    """distrl.replay, through the calls that the learner makes."""

    def __init__(self, size: int) -> None:
        self.replay = ReplayBuffer(ReplaySettings(capacity=size, byte_limit=2**50))
        self.rng = np.random.default_rng(0)
        self.names = itertools.count()
        task = Task("bench.replay/train/1", "Do it", "general", "bench", "train", 1, (), "easy", 9)
        screen = compress(Screen(np.zeros((72, 36, 3), np.uint8)))
        verdict = Verdict(True, "", "benchmark")
        steps = (Decision(Done(), "done"),)
        self.one = Trajectory("", task, steps, (screen, screen), Ending.SUCCESS, verdict, 1.0)
        for newcomer in self.newcomers(size):
            self.insert(newcomer)

    def newcomers(self, n: int) -> list[Trajectory]:
        return [replace(self.one, id=str(next(self.names))) for _ in range(n)]

    def insert(self, newcomer: Trajectory) -> None:
        self.replay.insert(newcomer)

    def sample(self) -> list[int]:
        return [draw.slot_id for draw in self.replay.sample(BATCH, self.rng, beta=0.4)]

    def update(self, drawn: list[int]) -> None:
        self.replay.update_priorities(drawn, self.rng.random(BATCH))


class Cpprb:
    """cpprb's prioritised buffer (C++) of trajectory numbers."""

    def __init__(self, size: int) -> None:
        buffer = importlib.import_module("cpprb").PrioritizedReplayBuffer
        self.replay = buffer(size, {"trajectory": {"dtype": np.int64}}, alpha=0.5)
        self.replay.add(trajectory=np.arange(size))
        self.rng = np.random.default_rng(0)

    def newcomers(self, n: int) -> list[int]:
        return list(range(n))

    def insert(self, newcomer: int) -> None:
        self.replay.add(trajectory=newcomer)

    def sample(self) -> Any:
        return self.replay.sample(BATCH, beta=0.4)["indexes"]

    def update(self, drawn: Any) -> None:
        self.replay.update_priorities(drawn, self.rng.random(BATCH))


class TorchRl:
    """TorchRL's prioritised buffer over a list of trajectory numbers."""

    def __init__(self, size: int) -> None:
        data = importlib.import_module("torchrl.data")
        self.replay = data.PrioritizedReplayBuffer(
            alpha=0.5, beta=0.4, storage=data.ListStorage(size), batch_size=BATCH
        )
        self.replay.extend(list(range(size)))
        self.rng = np.random.default_rng(0)

    def newcomers(self, n: int) -> list[int]:
        return list(range(n))

    def insert(self, newcomer: int) -> None:
        self.replay.add(newcomer)

    def sample(self) -> Any:
        return self.replay.sample(return_info=True)[1]["index"]

    def update(self, drawn: Any) -> None:
        self.replay.update_priority(drawn, self.rng.random(BATCH))


class Original:
    """The released code's buffer; `size` is its number of steps, its only unit."""

    STEPS = 5

    def __init__(self, size: int) -> None:
        self.replay = OriginalReplayBuffer(size)
        features = np.zeros(FEATURES, np.float32)
        step = {
            "observation": "Do it",
            "next_observation": "Do it",
            "action": "done",
            "image_features": features,
            "next_image_features": features,
            "reward": 0.0,
            "mc_return": 0.5,
            "penalty": 0.0,
            "log_prob": -1.0,
            "done": False,
        }
        self.episode = [step] * (self.STEPS - 1) + [{**step, "done": True}]
        for newcomer in self.newcomers(size // self.STEPS):
            self.insert(newcomer)

    def newcomers(self, n: int) -> list[list[dict[str, Any]]]:
        return [self.episode] * n

    def insert(self, newcomer: list[dict[str, Any]]) -> None:
        for step in newcomer:
            self.replay.insert_step(step)

    def sample(self) -> None:
        for _ in range(BATCH):
            self.replay.sample_window()

    def update(self, drawn: None) -> None:
        """Refresh all priorities, since it cannot refresh fewer."""
        self.replay.refresh_priorities(len(self.replay.starts))

    def seconds_per_refresh(self, episodes: int = 200) -> float:
        """Extrapolate a full refresh from the first episodes: at 10⁶ a whole one takes minutes."""
        begun = time.process_time()
        self.replay.refresh_priorities(episodes)
        taken = time.process_time() - begun
        whole = len(self.replay.starts)
        return taken * whole / min(whole, episodes)


CONTENDERS: dict[str, Callable[[int], Contender]] = {
    "ours": Ours,
    "cpprb": Cpprb,
    "torchrl": TorchRl,
    "original": Original,
}


def prefix(name: str) -> str:
    """Return the prefix of a contender's figures; ours have none."""
    return "" if name == "ours" else f"{name}_"


# Speed -------------------------------------------------------------------------------------------


def per_second(operate: Callable[[Any], object], prepare: Callable[[], Iterable[Any]]) -> float:
    """Return operations per second: the median of repetitions of a fraction of a second each."""
    rates = []
    for _ in range(TURNS):
        prepared = list(prepare())
        done, begun = 0, time.process_time()
        while done < len(prepared) and time.process_time() - begun < TURN_SECONDS:
            for argument in prepared[done : done + CHUNK]:
                operate(argument)
            done = min(done + CHUNK, len(prepared))
        rates.append(done / (time.process_time() - begun))
    return statistics.median(rates)


def race(make: Callable[[int], Contender], before: str) -> Figures:
    figures: Figures = {}
    for label, size in SIZES.items():
        begun = time.process_time()
        for what, rate in rates(make(size)).items():
            figures[f"{before}{what}_per_s_{label}"] = rate
        taken = time.process_time() - begun
        CONSOLE.print(f"{before or 'ours'} at {size:,}: {taken:.0f} s", highlight=False)
    return figures


def rates(contender: Contender) -> Figures:
    gc.collect()
    sample = per_second(lambda _: contender.sample(), lambda: range(2_000))
    if isinstance(contender, Original):
        update = 1 / statistics.median(contender.seconds_per_refresh() for _ in range(TURNS))
    else:
        drawn = [contender.sample() for _ in range(2_000)]
        update = per_second(contender.update, lambda: drawn)
    insert = per_second(contender.insert, lambda: contender.newcomers(5_000))
    return {"insert": insert, "sample": BATCH * sample, "update": BATCH * update}


def why_not(make: Callable[[int], Contender]) -> str | None:
    """Return the reason why a contender cannot run here, or None."""
    try:
        make(BATCH).sample()
    except ModuleNotFoundError as error:
        return f"not installed ({error})"
    except (ImportError, RuntimeError, NameError, OSError) as error:
        return f"its native part does not load ({error})"
    return None


def growth(figures: Figures) -> Figures:
    """Return time per operation at 10⁶ over that at 10², over the ratio of their logarithms, 3."""
    logarithms = math.log(SIZES["1e6"]) / math.log(SIZES["1e2"])
    return {
        f"{what}_growth_over_log": figures[f"{what}_per_s_1e2"]
        / figures[f"{what}_per_s_1e6"]
        / logarithms
        for what in ("insert", "sample", "update")
    }


# Memory and real screens -------------------------------------------------------------------------


def real_trajectories(steps: int, n: int) -> list[Trajectory]:
    """Return scripted solutions with exactly `steps` steps, each of another task."""
    found: list[Trajectory] = []
    for number, name in itertools.product(range(5), template_names("train")):
        episode = demonstrate(load_task(f"{name}/train/{number}")[0], SimulatedDevice("bench"))
        if len(episode.decisions) == steps:
            found.append(replace(episode, id=str(len(found))))
        if len(found) == n:
            break
    return found


def measure_memory(episodes: list[Trajectory]) -> Figures:
    """Measure the bytes of a trajectory: alone, among others, and with each screen stored twice.

    Twice means as state and as next state, packed as ours are, or raw.
    """
    alone, twice, raw = [], [], []
    together = ReplayBuffer()
    for episode in episodes:
        replay = ReplayBuffer()
        replay.insert(episode)
        together.insert(episode)
        alone.append(replay.nbytes)
        copies = [*episode.screens[:-1], *episode.screens[1:]]
        twice.append(record_bytes(episode) + sum(compress(s).nbytes for s in copies))
        raw.append(record_bytes(episode) + sum(s.pixels.nbytes for s in copies))
    return {
        "bytes_per_trajectory": statistics.mean(alone),
        "bytes_per_trajectory_among_others": together.nbytes / len(together),
        "bytes_per_trajectory_screens_twice": statistics.mean(twice),
        "bytes_per_trajectory_screens_twice_raw": statistics.mean(raw),
        "trajectories_weighed": len(episodes),
    }


def milliseconds(operate: Callable[[Any], object], arguments: list[Any]) -> float:
    taken = []
    for argument in arguments:
        begun = time.process_time()
        operate(argument)
        taken.append(time.process_time() - begun)
    return 1000 * statistics.median(taken)


def measure_screens(episodes: list[Trajectory]) -> Figures:
    """Measure packed 360 × 720 screens beside Pillow's PNG, and inserts of raw trajectories."""
    screens = [screen for episode in episodes for screen in episode.screens]
    packed = [compress(screen) for screen in screens]
    pngs = [_png(screen) for screen in screens]

    def unpack(screen: CompressedScreen) -> object:
        return screen.pixels

    inserts = []
    for _ in range(TURNS):
        replay = ReplayBuffer()
        inserts.append(milliseconds(replay.insert, episodes))
    return {
        "screen_bytes": statistics.mean(screen.nbytes for screen in packed),
        "screen_pack_ms": milliseconds(compress, screens),
        "screen_unpack_ms": milliseconds(unpack, packed),
        "png_screen_bytes": statistics.mean(len(png) for png in pngs),
        "png_screen_pack_ms": milliseconds(_png, screens),
        "png_screen_unpack_ms": milliseconds(lambda p: np.asarray(Image.open(io.BytesIO(p))), pngs),
        "insert_ms_10_raw_steps": statistics.median(inserts),
    }


def _png(screen: Screen) -> bytes:
    written = io.BytesIO()
    Image.fromarray(screen.pixels).save(written, "png")
    return written.getvalue()


# Report ------------------------------------------------------------------------------------------


def table(figures: Figures, left_out: dict[str, str]) -> Table:
    shown = Table(title="Replay, trajectories per second", title_justify="left")
    if left_out:
        shown.caption = "\n".join(f"{name}: {why}" for name, why in left_out.items())
        shown.caption_justify = "left"
    for column in ("operation, entries", *CONTENDERS):
        shown.add_column(column, justify="left" if column.startswith("operation") else "right")
    for what, label in itertools.product(("insert", "sample", "update"), SIZES):
        values = (figures.get(f"{prefix(name)}{what}_per_s_{label}") for name in CONTENDERS)
        cells = ("left out" if value is None else f"{value:,.4g}" for value in values)
        shown.add_row(f"{what}, {label}", *cells)
    return shown


def main() -> None:
    figures: Figures = {}
    left_out: dict[str, str] = {}
    for name, make in CONTENDERS.items():
        if (why := why_not(make)) is None:
            figures |= race(make, prefix(name))
        else:
            left_out[name] = why
    figures |= growth(figures)
    episodes = real_trajectories(steps=10, n=20)
    figures |= measure_memory(episodes) | measure_screens(episodes)
    CONSOLE.print(table(figures, left_out))
    for name, value in figures.items():
        if "_per_s_1e" not in name:
            CONSOLE.print(f"{name:42} {value:,.4g}", highlight=False)
    for what in ("insert", "sample", "update"):
        grown = figures[f"{what}_growth_over_log"]
        verdict = (
            "flat within 2x of log n" if grown <= 2.0 else "[red]NOT flat within 2x of log n[/]"
        )
        CONSOLE.print(f"{what}: {grown:.2f} times the growth of log n: {verdict}", highlight=False)
    CONSOLE.print(f"written to {write_results('replay', figures)}", highlight=False)


if __name__ == "__main__":
    main()
