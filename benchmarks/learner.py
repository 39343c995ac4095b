"""Measure the turns per second that the learner trains on (`make bench-learner`).

The starter model plays training tasks on simulated phones; then a whole `Learner` trains on these
trajectories as in a run: before each step a third of the batch arrives (`samples_per_insert` = 3),
and the rest was drawn before. A turn is one decision that is trained on. Three ways are measured in
one run, on the same trajectories:

    two_passes    no cache: every draw is encoded again, and scored before it is trained on
    cached        encodings are cached by content, one forward pass (the default)
    shared        as cached; encodings of arrivals come with them, from the policy that acted

With `--old DIRECTORY`, a checkout of earlier code, that code is measured as well, in a process of
its own. On a CPU, times are CPU time of one thread, which other load on the machine does not
lengthen. Without a GPU, the figures of the last run with one are kept, with their date.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import time
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from benchmarks.results_file import RESULTS, write_results
from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.loading import open_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.episodes.evaluation import evaluation_tasks, play
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.batch import batch_of
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport
from distrl.learning.learner_settings import LearnerSettings
from distrl.records import Trajectory
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer
from distrl.replay.trajectory_encoding import decode_trajectory, encode_trajectory
from phonesim.simulated_device import SimulatedDevice

CONSOLE = Console()
PER_INSERT = 3.0
WAYS = ("two_passes", "cached", "shared")
QUICK_START = Path(__file__).parents[1] / "src/distrl/configs" / "quick_start.toml"
Figures = dict[str, Any]


class Nowhere:
    """A `Publisher` that discards the weights."""

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None: ...


def played(policy: VlmPolicy, count: int, templates: Sequence[str]) -> list[Trajectory]:
    """Play training tasks on up to 64 phones; return the trajectories packed, as they arrive."""
    devices = [SimulatedDevice(f"phone-{number}") for number in range(min(64, count))]
    tasks = islice(evaluation_tasks("train", only=templates), count)
    found = play(tasks, lambda task, device, judge: policy, devices)
    return [decode_trajectory(encode_trajectory(each)) for each in found]


def learner_for(policy: VlmPolicy, batch: int, micro: int, **step: Any) -> Learner:
    gradient_step = GradientStep(policy, StepSettings(micro_batch_turns=micro, **step))
    settings = LearnerSettings(batch_trajectories=batch, warm_up_updates=0, refresh_trajectories=0)
    return Learner(
        policy,
        ARide(gradient_step, ARideSettings(advantage="signed")),  # as measured
        gradient_step,
        ReplayBuffer(),
        Pacing(PER_INSERT, minimum_fill=batch),
        deque(),
        Nowhere(),
        settings,
    )


class Clock:
    """CPU time of the process on a CPU; wall time after a synchronisation on a GPU."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def now(self) -> float:
        if self.device.type != "cuda":
            return time.process_time()
        torch.cuda.synchronize()
        return time.perf_counter()


def turns_per_second(learner: Learner, corpus: Sequence[Trajectory], batch: int) -> Figures:
    """Feed trajectories at the pace of a run, and time whole steps after the first two."""
    clock, arriving = Clock(learner.device), iter(corpus)
    incoming: Any = learner.incoming
    incoming.extend(islice(arriving, batch))
    turns, seconds, updates = 0, 0.0, 0
    stages: dict[str, float] = {}
    for number in count():
        begin = clock.now()
        report = learner.step()
        took = clock.now() - begin
        if isinstance(report, LearnerReport) and number > 1:  # the first ones warm up
            turns, seconds, updates = turns + report.turns, seconds + took, updates + 1
            for name, value in report.seconds.items():
                stages[name] = stages.get(name, 0.0) + value
        fresh = list(islice(arriving, round(batch / PER_INSERT)))
        if not fresh:
            break
        incoming.extend(fresh)
    shares = {f"ms_{name}": 1e3 * value / updates for name, value in stages.items()}
    return {"turns_per_s": turns / seconds, "update_s": seconds / updates, **shares}


def measure(given: argparse.Namespace) -> Figures:
    """Measure every way that this tree has; return the figures with the way's name in front."""
    corpus = played(open_starter(given.device), given.trajectories, quick_templates())
    figures: Figures = {"turns": sum(len(each.decisions) for each in corpus)}
    for name, step, cached in ways():
        policy = open_starter(given.device, **cached)
        if name == "shared":
            share(policy, corpus)
        learner = learner_for(policy, given.batch, given.micro, **step)
        found = turns_per_second(learner, corpus, given.batch)
        figures |= {f"{name}_{figure}": value for figure, value in found.items()}
    return figures


def open_starter(device: str, **settings: Any) -> VlmPolicy:
    sampling = SamplingSettings(max_new_tokens=32)
    return open_policy("starter", VlmSettings(device=device, sampling=sampling, **settings))


def share(policy: VlmPolicy, corpus: Sequence[Trajectory]) -> None:
    """Fill the learner's cache with encodings, as collectors do; their time is not counted."""
    batch = batch_of(corpus)
    for first in range(0, len(batch.turns), 64):
        seen = [turn.observation for turn in batch.turns[first : first + 64]]
        policy.value_logits(seen)


def ways() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield the name, the step settings and the policy settings of each way."""
    if "one_pass_turns" not in StepSettings.__dataclass_fields__:
        yield "old", {}, {}
        return
    yield "two_passes", {"one_pass_turns": 0}, {"cache_megabytes": 0}
    yield "cached", {"one_pass_turns": 100_000}, {"cache_megabytes": 8192}
    yield "shared", {"one_pass_turns": 100_000}, {"cache_megabytes": 8192}


def quick_templates() -> list[str]:
    templates: list[str] = tomllib.loads(QUICK_START.read_text())["tasks"]["templates"]
    return templates


def of_old_tree(old: Path, arguments: list[str], script: str = __file__) -> Figures:
    """Run the same script with the code of an older tree, so that both are measured in one run."""
    paths = [str(old / "src"), str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, script, *arguments]
    answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: Figures = json.loads(answer.stdout.decode().splitlines()[-1])
    return found


def named(found: Figures, device: str, command: str) -> Figures:
    """Return the figures by their names in the results: on a CPU per update, on a GPU per turn."""
    if device == "cpu":
        figures = {f"cpu_update_s_{way}": found[f"{way}_update_s"] for way in WAYS}
        if "old_update_s" in found:
            figures["cpu_update_s_old"] = found["old_update_s"]
            figures["cpu_update_speedup"] = found["old_update_s"] / found["shared_update_s"]
        return figures
    names = {
        "gpu_learner_turns_per_s_starter": "cached",
        "gpu_learner_turns_per_s_starter_known": "shared",
        "gpu_learner_turns_per_s_starter_two_passes": "two_passes",
        "gpu_learner_turns_per_s_starter_old": "old",
    }
    figures = {
        name: found[f"{way}_turns_per_s"]
        for name, way in names.items()
        if f"{way}_turns_per_s" in found
    }
    figures |= {
        "gpu": torch.cuda.get_device_name(),
        "gpu_command": f"python -m benchmarks.learner {command}",
        "gpu_date": dt.datetime.now(dt.UTC).date().isoformat(),
        "gpu_torch": torch.__version__,
    }
    return figures


def earlier(on_gpu: bool) -> Figures:
    """Return the figures that the last run on the other kind of device left in the results."""
    file = RESULTS / "learner.json"
    kept = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {name: value for name, value in kept.items() if name.startswith("gpu") is not on_gpu}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--trajectories", type=int, default=64)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--micro", type=int, default=32)
    parser.add_argument("--old", type=Path, help="a checkout of the code before")
    parser.add_argument("--raw", action="store_true", help="print JSON, write nothing")
    parser.add_argument("--out", type=Path, help="write the figures here and not to the results")
    parser.add_argument("--gpu-from", type=Path, help="take the figures of such a file")
    given = parser.parse_args()
    if given.device == "cpu":
        torch.set_num_threads(1)
    names = ("device", "trajectories", "batch", "micro")
    shared = [f"--{name}={getattr(given, name)}" for name in names]
    found = measure(given)
    if given.raw:
        print(json.dumps(found))
        return
    if given.old:
        found |= of_old_tree(given.old, ["--raw", *shared])
    table = Table("figure", "value")
    for name, value in found.items():
        table.add_row(name, f"{value:.4g}")
    CONSOLE.print(table)
    figures = named(found, given.device, " ".join([*shared, "--old DIR", "--out FILE"]))
    if given.out:
        given.out.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
        return
    gpu = json.loads(given.gpu_from.read_text("utf-8")) if given.gpu_from else {}
    everything = {**earlier(given.device != "cpu"), **gpu, **figures}
    CONSOLE.print(f"written to {write_results('learner', everything)}")


if __name__ == "__main__":
    main()
