"""Compare the final success of a run that is killed repeatedly with an undisturbed run.

`make chaos-quality` trains as the quick start does, twice, to the same number of updates: once
undisturbed, once with SIGKILLs to collectors and to the learner, torn files and a disk that is full
for a while (`chaos`), from the beginning to four fifths of the updates. Both models are then tested
on the same unseen tasks.

    killed_after, undisturbed_after   success on unseen tasks, with _low and _high (95 %, Wilson)
    kills, lost, doubled, jumps       of the run that was killed, counted as by `make chaos`
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.chaos import Chaos
from benchmarks.results_file import write_results
from benchmarks.run_figures import run_figures
from benchmarks.train_runs import COMMAND, set_words

LAST_KILL = 0.8  # share of the updates over which kills are spread; the first is at update 0
CONFIG = Path(__file__).parents[1] / "src/distrl/configs" / "quick_start.toml"


def words(updates: int) -> list[str]:
    settings = {
        "run.updates": updates,
        "run.minutes": 60,
        "run.checkpoint_minutes": 0.2,
        "collection.heartbeat_seconds": 0.5,
        "collection.restarts": 1000,
    }
    return [str(CONFIG), *set_words(settings)]


def undisturbed(folder: Path, updates: int) -> dict[str, Any]:
    """Train without faults and return the run's result."""
    place = set_words({"run.directory": folder / "runs"})
    subprocess.run([*COMMAND, *words(updates), *place], check=True)
    [path] = folder.glob("runs/*/result.json")
    result: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return result


def killed(folder: Path, updates: int, kills: int, console: Console) -> Chaos:
    """Train with `kills` kills, then let the run finish."""
    chaos = Chaos(folder, words(updates), console, random.Random("chaos quality"))
    try:
        chaos.begin()
        for number in range(kills):
            due = LAST_KILL * updates * number / kills
            chaos.wait_until(lambda: chaos.updates() >= due, f"update {due:.0f}")  # noqa: B023
            chaos.strike()
        assert chaos.process is not None
        chaos.wait_for_end()
        if chaos.process.returncode:
            raise SystemExit(f"the run did not end well: {chaos.last_words()}")
        return chaos
    finally:
        if chaos.process is not None and chaos.process.poll() is None:
            chaos.process.kill()
            chaos.process.wait()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--updates", type=int, default=50)
    chosen = options.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="distrl-quality-") as scratch:
        folders = [Path(scratch) / name for name in ("killed", "undisturbed")]
        for folder in folders:
            folder.mkdir()
        chaos = killed(folders[0], chosen.updates, chosen.kills, console)
        assert chaos.run is not None
        figures = chaos.figures()
        figures |= run_figures("killed", json.loads(chaos.run.result.read_text("utf-8")))
        figures |= run_figures("undisturbed", undisturbed(folders[1], chosen.updates))
    for name, value in figures.items():
        console.print(f"{name:26} {value:g}", highlight=False)
    console.print(write_results("chaos-quality", figures, "make chaos-quality"))


if __name__ == "__main__":
    main()
