"""Measure the simulated phone's speed, memory and success rates (`make bench-phone`).

Speed is that of `perform` and `frame` for the actions of scripted solutions over all templates, on
one core: taps, swipes, typing and so on, each followed by its rendered 360 × 720 frame as an array.
(All templates of the families General and Shopping: the everyday apps came later, and the figure
should stay comparable; `everyday_steps_per_s_per_core` is theirs.) With `--old CHECKOUT`, a
checkout of an earlier state, both are measured in turns, each in processes of its own:
`steps_per_s_ratio` is the new speed over the old one. Success is that of the simple agents without
a model, over all templates and splits. Figures of the Android emulator are shown beside ours as
published; `make bench-mobilegym` measures MobileGym and our phone in one run.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.results_file import make_command, write_results
from distrl.episodes.demonstrations import demonstrate
from distrl.episodes.evaluation import SIMPLE_AGENTS, evaluate
from distrl.episodes.outcome import success_rate
from distrl.errors import UsageError
from distrl.records import CORE_FAMILIES, FAMILIES, SPLITS, Action, Ending, Family, Task
from phonesim.apps import APPS
from phonesim.apps.everyday import EVERYDAY_APPS
from phonesim.apps.page_names import page_names
from phonesim.display import STANDARD, Display
from phonesim.drift import Drift
from phonesim.languages.language import FOLDERS
from phonesim.phone import Phone
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.instructions import phrasings_in
from phonesim.tasks.task_sets import load_task, splits_of, template_names, templates
from phonesim.tasks.template import Template
from phonesim.tasks.wordings import REWORDED

PHONES = 60  # phones created at once to measure the memory of one
REPEATS = 5
TURNS = 3  # of each checkout, in a comparison of two
RATE = """
import time
from benchmarks.phone import all_tasks, recorded_actions, step_seconds
prepared = recorded_actions(all_tasks(range(1)))
step_seconds(prepared)
begun = time.process_time()
steps = sum(len(step_seconds(prepared)) for _ in range(2))
print(steps / (time.process_time() - begun))
"""
CONSOLE = Console()
Figures = dict[str, float]


def all_tasks(numbers: range, families: Sequence[Family] = CORE_FAMILIES) -> list[Task]:
    """Return tasks of every template of the families, in each of its splits, with these numbers.

    Splits that only reword the tasks of `test` are left out.
    """
    return [
        load_task(f"{name}/{split}/{number}")[0]
        for split in SPLITS
        if split not in REWORDED
        for name, template in templates().items()
        if template.family in families and split in splits_of(template)
        for number in numbers
    ]


# What there is ---------------------------------------------------------------------------------


def count_contents() -> Figures:
    """Count templates, those that name more than one app, and pages of all apps."""
    found = templates().values()
    everyday = [name for name, each in templates().items() if each.family == "everyday"]
    return {
        "templates": len(found),
        "cross_app_templates": sum(len(each.apps) > 1 for each in found),
        "everyday_templates": len(everyday),
        "high_stakes_templates": len(template_names("high_stakes")),
        "long_templates": len(template_names("long")),
        "apps": len(APPS),
        "pages": sum(len(page_names(app)) for app in APPS.values()),
        "everyday_pages": sum(len(page_names(app)) for app in EVERYDAY_APPS),
        "languages": len(FOLDERS),
        "templates_in_all_languages": sum(_said_in_all(each) for each in found),
    }


def _said_in_all(template: type[Template]) -> bool:
    return all(phrasings_in(template, name) for name in FOLDERS if name != "English")


# Speed -----------------------------------------------------------------------------------------


def recorded_actions(
    tasks: list[Task], display: Display = STANDARD
) -> list[tuple[Phone, list[Action]]]:
    """Return a phone set up for each task, and the actions of its scripted solution."""
    prepared = []
    for task in tasks:
        device = SimulatedDevice("recorder", display=display)
        actions = [decision.action for decision in demonstrate(task, device).decisions]
        device.reset(task.seed)
        FactJudge(device).begin(task)
        prepared.append((device.phone, actions))
    return prepared


def step_seconds(prepared: list[tuple[Phone, list[Action]]]) -> list[float]:
    """Return the seconds of each action with its new frame; each phone is restored afterwards."""
    taken = []
    for phone, actions in prepared:
        start = phone.snapshot()
        phone.frame()
        for action in actions[:-1]:  # the last one is an answer and does nothing
            begun = time.perf_counter()
            phone.perform(action)
            phone.frame()
            taken.append(time.perf_counter() - begun)
        phone.restore(start)
    return taken


def measure_dense() -> Figures:
    """Measure 1080 × 2160 screens: the same layout units, nine times as many pixels."""
    prepared = recorded_actions(all_tasks(range(1))[::8], Display(1080, 2160, 3))
    step_seconds(prepared)  # fills the caches of pictures and glyphs
    runs = [step_seconds(prepared) for _ in range(3)]
    return {"density_3_steps_per_s": statistics.median(len(run) / sum(run) for run in runs)}


def measure_speed() -> Figures:
    prepared = recorded_actions(all_tasks(range(1)))
    cold = step_seconds(recorded_actions(all_tasks(range(1000, 1001))))
    runs = [step_seconds(prepared) for _ in range(REPEATS)]
    rates = sorted(len(run) / sum(run) for run in runs)
    steps = sorted(statistics.median(times) for times in zip(*runs, strict=True))
    return {
        "steps_per_s_per_core": statistics.median(rates),
        "steps_per_s_per_core_lowest_run": rates[0],
        "steps_per_s_per_core_highest_run": rates[-1],
        "steps_per_s_per_core_new_phones": len(cold) / sum(cold),
        "step_ms_p50": 1000 * steps[len(steps) // 2],
        "step_ms_p95": 1000 * steps[len(steps) * 95 // 100],
        "step_ms_max": 1000 * steps[-1],
        "everyday_steps_per_s_per_core": _everyday_rate(),
    }


def measure_ratio(old: Path) -> Figures:
    """Compare our speed with an earlier checkout's, in turns, so that load slows both alike."""
    if not (old / "benchmarks" / "phone.py").is_file():
        raise UsageError(f"--old {old}: no checkout of this repository; `git worktree add` one")
    here = Path(__file__).parents[1]
    pairs = [(_rate_in(old), _rate_in(here)) for _ in range(TURNS)]
    before, now = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    return {
        "steps_per_s_per_core_before": before,
        "steps_per_s_per_core_beside_it": now,
        "steps_per_s_ratio": statistics.median(ours / theirs for theirs, ours in pairs),
    }


def _rate_in(checkout: Path) -> float:
    """Return the steps per CPU second of that checkout's code, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}"}
    done = subprocess.run(
        [sys.executable, "-c", RATE],
        capture_output=True,
        text=True,
        check=True,
        cwd=checkout,
        env=environment,
    )
    return float(done.stdout)


def _everyday_rate() -> float:
    """Return the speed on the everyday apps, with one task of each of their templates."""
    prepared = recorded_actions(all_tasks(range(1), ("everyday",)))
    step_seconds(prepared)  # fills the picture cache
    taken = step_seconds(prepared)
    return len(taken) / sum(taken)


def measure_reset() -> Figures:
    times, frames, boots = [], [], []
    for seed in range(200):
        begun = time.perf_counter()
        phone = Phone(50_000 + seed)
        boots.append(time.perf_counter() - begun)
        start = phone.snapshot()
        begun = time.perf_counter()
        phone.restore(start)
        times.append(time.perf_counter() - begun)
        phone.frame()
        begun = time.perf_counter()
        phone.restore(start)
        phone.frame()
        frames.append(time.perf_counter() - begun)
    return {
        "reset_ms": 1000 * statistics.median(times),
        "reset_and_frame_ms": 1000 * statistics.median(frames),
        "new_phone_ms": 1000 * statistics.median(boots),
    }


# Memory ----------------------------------------------------------------------------------------


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def weigh_phones() -> float:
    """Return the megabytes of each further phone in this process, used and with its last frame."""
    tasks = all_tasks(range(1))
    for task in tasks[:40]:
        demonstrate(task, SimulatedDevice("warm"))
    gc.collect()
    before = resident_mb()
    devices = []
    for index in range(PHONES):
        device = SimulatedDevice(f"phone {index}")
        demonstrate(tasks[40 + index], device)
        devices.append(device)
    gc.collect()
    grown = resident_mb() - before
    assert len(devices) == PHONES
    return grown / PHONES


def measure_memory() -> Figures:
    """Measure in a process of its own, so that no other memory is counted."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.phone", "--weigh"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {"mb_per_phone": float(done.stdout)}


# Success ---------------------------------------------------------------------------------------


def measure_success(numbers: int) -> Figures:
    """Measure success: scripted solutions always succeed; agents without a model rarely do."""
    figures: Figures = {}
    drift = Drift(popup_rate=0.05, ad_rate=0.4)
    for agent, share, easy in (
        ("scripted", 1.0, False),
        ("idle", 0.1, False),
        ("done", 1.0, False),
        ("monkey", 0.5, True),
    ):
        tasks = all_tasks(range(max(1, round(numbers * share))), FAMILIES)
        device = SimulatedDevice(agent, drift=drift)
        shown = track(tasks, f"{agent}, {len(tasks)} episodes", console=CONSOLE, transient=True)
        outcomes = evaluate(shown, SIMPLE_AGENTS[agent], [device], stop_on_success=easy)
        rate = success_rate(outcomes)
        low, high = rate.interval
        figures |= {
            f"{agent}_success": rate.rate,
            f"{agent}_success_low": low,
            f"{agent}_success_high": high,
            f"{agent}_episodes": rate.episodes,
        }
        if agent == "scripted":
            figures["scripted_steps_mean"] = statistics.mean(o.steps - 1 for o in outcomes)
            for lost in (o for o in outcomes if o.ending is not Ending.SUCCESS):
                CONSOLE.print(f"[red]failed[/] {lost.task.id}: {lost.ending.value}: {lost.reason}")
    return figures


def table(figures: Figures) -> Table:
    shown = Table(title="The simulated phone", title_justify="left")
    for column in ("figure", "here", "wanted", "Android emulator¹", "MobileGym²"):
        shown.add_column(column, justify="left" if column == "figure" else "right")
    wanted = {
        "steps_per_s_per_core": ("≥ 500", "0.08 (12 s a step)", "15 to 23"),
        "steps_per_s_ratio": ("≥ 0.8", "", ""),
        "reset_ms": ("< 1", "", "1200 to 1400"),
        "mb_per_phone": ("≤ 15", "4500", "219"),
        "scripted_success": ("1", "", ""),
        "idle_success": ("0", "", ""),
        "done_success": ("0", "", ""),
        "monkey_success": ("< 0.03", "", ""),
    }
    for name, value in figures.items():
        shown.add_row(name, f"{value:,.4g}", *wanted.get(name, ("", "", "")))
    shown.caption = "¹ as published by others · ² v0.1.0, 2026-11-15, docs/mobilegym.md"
    return shown


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--weigh", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("--old", type=Path, help="a checkout of before, to compare speed with")
    options.add_argument("--numbers", type=int, default=20, help="tasks of each template and split")
    chosen = options.parse_args()
    if chosen.weigh:
        print(weigh_phones())
        return
    figures = count_contents() | measure_speed() | measure_dense()
    if chosen.old:
        figures |= measure_ratio(chosen.old.resolve())
    figures |= measure_reset() | measure_memory()
    figures |= measure_success(chosen.numbers)
    CONSOLE.print(table(figures))
    CONSOLE.print(
        f"written to {write_results('phone', figures, make_command('bench-phone'))}",
        highlight=False,
    )


if __name__ == "__main__":
    main()
