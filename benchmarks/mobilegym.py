"""Compare MobileGym's phone with ours, in turns in one run, through the same `Device` protocol.

MobileGym is used from a built checkout in the folder that the environment variable MOBILEGYM names
(MobileGym's own instructions say how to build it; docs/mobilegym.md says what else it needs):

    MOBILEGYM=/path/to/mobilegym make bench-mobilegym

Both have 360 × 720 pixels. NAME is mobilegym or phonesim, times are medians in milliseconds:

    NAME_start_ms          from no server and no browser to the first screen
    NAME_step_ms           a tap and its picture; MobileGym's once the page has stopped moving
    NAME_moving_step_ms    the same, without waiting for a still picture (MobileGym alone)
    NAME_reset_ms          a reset with another seed (MobileGym has none), and the first screen
    NAME_set_up_ms         set up a task on a phone that was reset
    NAME_verdict_ms        ask its judge
    NAME_snapshot_ms       copy the state
    NAME_restore_ms        restore it, and take a picture
    NAME_restored_share    share of the states after some random actions that could be restored
    NAME_first_mb          what the first phone adds to the proportional set size of a process,
                           including its browser
    NAME_further_mb        what each further one adds; ours are so small that 16 are measured
    NAME_together_per_s    steps of all phones in a second, with one thread per phone

`load` is the load of the machine at the start: figures of a busy machine are upper bounds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import count, cycle, islice
from random import Random

from rich.console import Console
from rich.table import Table

from benchmarks.phones import memory_and_threads
from benchmarks.results_file import make_command, write_results
from distrl.config.training_config import TrainingConfig, load_config
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.device import Device, Forkable
from distrl.engine.environment import MAX_DEVICES, Environment, open_environment
from distrl.errors import ActionFailed, DeviceError, JudgeError
from distrl.records import Action, Back, Home, Screen, Swipe, Tap

VARIABLE = "MOBILEGYM"
NAMES = ("mobilegym", "phonesim")
WEIGHED = {"phonesim": MAX_DEVICES}  # phones for the memory figures, where not --phones
STARTS = 3
TAPS = tuple(Tap(*at) for at in ((0.2, 0.3), (0.5, 0.5), (0.8, 0.7), (0.5, 0.9)))
ACTIONS = 4  # random ones before a snapshot
CONSOLE = Console()


def config_of(name: str, folder: str, phones: int) -> TrainingConfig:
    words = [f"devices.count={phones}", "evaluation.before=0", "evaluation.after=0"]
    if name == "mobilegym":
        words += [
            "devices.kind=browser", "tasks.source=mobilegym", f"tasks.mobilegym_folder={folder}",
            "judge.kind=page", f"devices.browser.pages={phones}",
        ]  # fmt: skip
    return load_config(None, words)


@contextmanager
def opened(name: str, folder: str, phones: int) -> Iterator[Environment]:
    """Open that many phones, each reset with a seed of its own and showing its first screen."""
    with open_environment(config_of(name, folder, phones), "train", phones, 0) as environment:
        assert len(environment.devices) == phones
        seeds = count()
        for device in environment.devices:
            _start_over(device, seeds)
        yield environment


# Time --------------------------------------------------------------------------------------------


def measure_times(name: str, folder: str, steps: int, resets: int) -> dict[str, float]:
    starts = [_milliseconds(partial(_open_and_close, name, folder)) for _ in range(STARTS)]
    with opened(name, folder, 1) as environment:
        [device] = environment.devices
        figures = {
            "start_ms": statistics.median(starts),
            "step_ms": _median(partial(_tap, device, cycle(TAPS)), steps),
            "reset_ms": _median(partial(_start_over, device, count(1)), resets),
        }
        if isinstance(device, BrowserDevice):
            figures["moving_step_ms"] = _median(partial(_moving_tap, device, cycle(TAPS)), steps)
        figures |= measure_tasks(environment, device, resets)
        figures |= measure_forks(device, resets)
    return {f"{name}_{figure}": value for figure, value in figures.items()}


def measure_tasks(environment: Environment, device: Device, resets: int) -> dict[str, float]:
    """Time setting up and judging tasks; tasks whose data are missing are named and left out."""
    begun, judged = [], []
    for task in islice(environment.tasks(), resets):
        judge = environment.judge_for(device)
        device.reset(task.seed)
        try:
            begun.append(_milliseconds(partial(judge.begin, task)))
            judged.append(_milliseconds(partial(judge.verdict, None)))
        except JudgeError as error:
            CONSOLE.print(f"{task.id}: {error}", highlight=False)
    return {"set_up_ms": statistics.median(begun), "verdict_ms": statistics.median(judged)}


def measure_forks(device: Device, resets: int) -> dict[str, float]:
    """Time a snapshot after some random actions, and its restoration after a further action."""
    assert isinstance(device, Forkable)
    copied, restored = [], []
    for number in range(resets):
        device.reset(number)
        rng = Random(number)
        for _ in range(ACTIONS):
            _act_at_random(device, rng)
        begun = time.perf_counter()
        state = device.snapshot()
        copied.append(1000 * (time.perf_counter() - begun))
        device.perform(Home())
        try:
            restored.append(_milliseconds(partial(_go_back, device, state)))
        except DeviceError as error:
            CONSOLE.print(f"after random actions {number}: {error}", highlight=False)
    return {
        "snapshot_ms": statistics.median(copied),
        "restore_ms": statistics.median(restored) if restored else float("nan"),
        "restored_share": len(restored) / len(copied),
    }


def _open_and_close(name: str, folder: str) -> None:
    with opened(name, folder, 1):
        pass


def _start_over(device: Device, seeds: Iterator[int]) -> Screen:
    device.reset(next(seeds))
    return device.screen()


def _tap(device: Device, taps: Iterator[Tap]) -> None:
    device.perform(next(taps))


def _moving_tap(device: BrowserDevice, taps: Iterator[Tap]) -> None:
    """Tap as on any web page, without waiting until the picture is still."""
    BrowserDevice._act(device, device.page, next(taps))
    device.page.picture()


def _act_at_random(device: Device, rng: Random) -> None:
    tap = Tap(rng.random(), rng.uniform(0.1, 0.95))
    actions: list[Action] = [tap, tap, Swipe(0.5, 0.7, 0.5, 0.3), Back()]
    try:
        device.perform(rng.choice(actions))
    except ActionFailed:
        return


def _go_back(device: Device, state: object) -> None:
    assert isinstance(device, Forkable)
    device.restore(state)
    device.screen()


def _median(work: Callable[[], object], times: int) -> float:
    return statistics.median(_milliseconds(work) for _ in range(times))


def _milliseconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


# Many phones -------------------------------------------------------------------------------------


def measure_many(name: str, folder: str, phones: int, seconds: float) -> dict[str, float]:
    """Measure memory in processes of their own, and the step rate of all phones together."""
    weighed = WEIGHED.get(name, phones)
    none, one, many = (held_megabytes(name, folder, each) for each in (0, 1, weighed))
    with opened(name, folder, phones) as environment, ThreadPoolExecutor(phones) as threads:
        until = time.monotonic() + seconds
        played = threads.map(partial(_steps_until, until), environment.devices)
        rate = sum(played) / seconds
    return {
        f"{name}_first_mb": one - none,
        f"{name}_further_mb": (many - one) / (weighed - 1),
        f"{name}_together_per_s": rate,
    }


def _steps_until(until: float, device: Device) -> int:
    steps, taps = 0, cycle(TAPS)
    while time.monotonic() < until:
        _tap(device, taps)
        steps += 1
    return steps


def held_megabytes(name: str, folder: str, phones: int) -> float:
    """Return the proportional set size of a process with that many phones, browser included."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.mobilegym",
        "--hold",
        name,
        "--phones",
        str(phones),
    ]
    environment = {**os.environ, VARIABLE: folder}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.readline() != b"ready\n":
            raise SystemExit(f"{phones} phones of {name} could not be opened: see above")
        gigabytes, _ = memory_and_threads(process.pid)
        process.stdin.close()  # ends the process
    return 1024 * gigabytes


def hold(name: str, folder: str, phones: int) -> None:
    """Hold open phones (0: none, in a process with the same imports) until the input ends."""
    with opened(name, folder, phones) if phones else nullcontext():
        print("ready", flush=True)
        sys.stdin.read()


# All of it ---------------------------------------------------------------------------------------


def measure(folder: str, phones: int, steps: int, resets: int, seconds: float) -> dict[str, float]:
    figures: dict[str, float] = {"phones": phones, "load": os.getloadavg()[0]}
    for name in NAMES:
        figures |= measure_times(name, folder, steps, resets)
        figures |= measure_many(name, folder, phones, seconds)
    return {name: float(f"{value:.3g}") for name, value in figures.items()}


def table(figures: dict[str, float]) -> Table:
    shown = Table(title="MobileGym's phone and ours", title_justify="left")
    for column in ("", *NAMES):
        shown.add_column(column, justify="right" if column else "left")
    prefix = f"{NAMES[0]}_"
    for figure in (name.removeprefix(prefix) for name in figures if name.startswith(prefix)):
        values = (figures.get(f"{name}_{figure}") for name in NAMES)
        shown.add_row(figure, *("" if value is None else f"{value:,g}" for value in values))
    shown.caption = f"{figures['phones']:g} phones together; load {figures['load']:g} at the start"
    return shown


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    options.add_argument("--phones", type=int, default=4, help="that are open at once")
    options.add_argument("--steps", type=int, default=40)
    options.add_argument("--resets", type=int, default=12)
    options.add_argument("--seconds", type=float, default=20.0, help="all phones together play")
    options.add_argument("--hold", choices=NAMES, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    folder = os.environ.get(VARIABLE, "")
    if chosen.hold:
        hold(chosen.hold, folder, chosen.phones)
        return
    if not folder:
        options.error(f"the environment variable {VARIABLE} names no built MobileGym")
    if not 2 <= chosen.phones <= MAX_DEVICES:
        options.error(f"--phones {chosen.phones}: give 2 to {MAX_DEVICES}")
    figures = measure(folder, chosen.phones, chosen.steps, chosen.resets, chosen.seconds)
    CONSOLE.print(table(figures))
    path = write_results("mobilegym", figures, f"{VARIABLE}=… {make_command('bench-mobilegym')}")
    CONSOLE.print(f"written to {path}", highlight=False)


if __name__ == "__main__":
    main()
