"""Measure how a process's environment variables change the speed of the same training steps.

    python -m benchmarks.process_environment [--rounds 5]

A small transformer over image patches takes optimiser steps on two threads, in a process of its
own, once for each environment and round, in turn, so that other load slows all of them; alone and
beside a process that keeps a core busy, as a collector does. Milliseconds are medians over steps
and rounds: wall time, and CPU time. Finally it checks that a bf16 product does not crash.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections import defaultdict

from rich.console import Console
from rich.table import Table

from benchmarks.results_file import write_results
from distrl.process_environment import WANTED

STEPS = """
import statistics, time, torch
torch.set_num_threads(2)
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
model = torch.nn.Sequential(
    torch.nn.Linear(192, 256), torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
    torch.nn.Linear(256, 512),
)
optimiser = torch.optim.AdamW(model.parameters())
patches, wanted = torch.randn(16, 128, 192), torch.randint(0, 512, (16, 128))
wall, busy = [], []
for _ in range(8):
    begun = time.perf_counter(), time.process_time()
    loss = torch.nn.functional.cross_entropy(model(patches).flatten(0, 1), wanted.flatten())
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    wall.append(time.perf_counter() - begun[0])
    busy.append(time.process_time() - begun[1])
print(statistics.median(wall[2:]) * 1000, statistics.median(busy[2:]) * 1000)
"""
BF16 = "import torch; x = torch.randn(64, 64, dtype=torch.bfloat16); print((x @ x).shape)"
SPIN = "while True: pass"
MEMORY = {name: value for name, value in WANTED.items() if name.startswith("MALLOC")}
WAITING = {name: value for name, value in WANTED.items() if name.startswith("OMP")}
ENVIRONMENTS = {"bare": {}, "memory": MEMORY, "waiting": WAITING, "all": WANTED}
COMPANY = ("alone", "shared")


def environment(variables: dict[str, str]) -> dict[str, str]:
    bare = {name: value for name, value in os.environ.items() if name not in WANTED}
    return {**bare, **variables}


def milliseconds(variables: dict[str, str]) -> tuple[float, float]:
    """Return the milliseconds of a step: wall time, and CPU time."""
    command = [sys.executable, "-c", STEPS]
    done = subprocess.run(command, env=environment(variables), capture_output=True, check=True)
    wall, busy = map(float, done.stdout.split())
    return wall, busy


def survives_bf16(variables: dict[str, str]) -> bool:
    command = [sys.executable, "-c", BF16]
    return not subprocess.run(command, env=environment(variables), capture_output=True).returncode


def measure(rounds: int) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for company in COMPANY:
        other = subprocess.Popen([sys.executable, "-c", SPIN]) if company == "shared" else None
        try:
            for _ in range(rounds):
                for name, variables in ENVIRONMENTS.items():
                    wall, busy = milliseconds(variables)
                    found[f"step_ms_{name}_{company}"].append(wall)
                    found[f"processor_ms_{name}_{company}"].append(busy)
        finally:
            if other is not None:
                other.kill()
                other.wait()
    return {name: round(statistics.median(times), 1) for name, times in found.items()}


def table(figures: dict[str, float]) -> Table:
    drawn = Table(title="one training step: ms by the clock (ms of processor time)")
    for heading in ("environment", "alone", "beside a busy process"):
        drawn.add_column(heading)
    for name in ENVIRONMENTS:
        cells = [
            f"{figures[f'step_ms_{name}_{c}']:.0f} ({figures[f'processor_ms_{name}_{c}']:.0f})"
            for c in COMPANY
        ]
        drawn.add_row(name, *cells)
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    figures = measure(parser.parse_args().rounds)
    for company in COMPANY:
        gain = figures[f"step_ms_bare_{company}"] / figures[f"step_ms_all_{company}"]
        figures[f"speedup_{company}"] = round(gain, 2)
    figures["bf16_survives_bare"] = float(survives_bf16({}))
    figures["bf16_survives_all"] = float(survives_bf16(WANTED))
    Console().print(table(figures))
    print(write_results("environment", figures))


if __name__ == "__main__":
    main()
