"""Where a learner's step spends its time, for models of growing size.

    python -m benchmarks.learner_profile [--device cuda] [--precision bf16] [--screens 720x360]

Sixteen trajectories of ten steps are drawn for each update, up to sixteen more are refreshed. All
times are milliseconds of one update. "Passes" are forward and backward through the model, wherever
they are needed (the refresh has some too); "outside" is the share of what is neither passes nor
optimisers: draws, unpacking, rewards, padding, targets, clipping, priorities, reports.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from benchmarks.pixel_policy import SIDE, PixelPolicy
from distrl.learning.a_ride import ARide
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport
from distrl.learning.learner_settings import LearnerSettings, Precision
from distrl.learning.stage_clock import STAGES
from distrl.records import Ending, Observation, Screen, Task, Trajectory, Verdict
from distrl.replay.pacing import Pacing
from distrl.replay.replay_buffer import ReplayBuffer

Call = Callable[..., Any]
STEPS, CORPUS = 10, 64
TASK = Task("profile/train/0", "Go on", "general", "profile", "train", 0, (), "easy", STEPS)


class Nowhere:
    """Takes weights and does nothing with them."""

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None: ...


def corpus(policy: PixelPolicy, height: int, width: int) -> list[Trajectory]:
    """Trajectories whose screens are a page with some boxes, as well packed as real ones."""
    return [trajectory(policy, height, width, number) for number in range(CORPUS)]


def trajectory(policy: PixelPolicy, height: int, width: int, number: int) -> Trajectory:
    chance = np.random.default_rng(number)
    screens = [drawn(chance, height, width) for _ in range(STEPS + 1)]
    decisions = policy.decide([Observation("Go on", each, ()) for each in screens[:-1]])
    success = number % 2 == 0
    ending = Ending.SUCCESS if success else Ending.STEP_LIMIT
    verdict = Verdict(success, "", "profile")
    return Trajectory(str(number), TASK, tuple(decisions), tuple(screens), ending, verdict, 0.0)


def drawn(chance: np.random.Generator, height: int, width: int) -> Screen:
    pixels = np.full((height, width, 3), 250, np.uint8)
    for _ in range(12):
        top, left = chance.integers(0, height), chance.integers(0, width)
        colour = chance.integers(0, 256, 3)
        pixels[top : top + height // 8, left : left + width // 4] = colour
    return Screen(pixels)


@dataclass
class Profile:
    """Seconds per update."""

    parameters: int
    whole: float
    passes: float  # forward and backward
    optimisers: float
    stages: dict[str, float]

    @property
    def outside(self) -> float:
        """Share of the step outside the passes and the optimisers."""
        return 1.0 - (self.passes + self.optimisers) / self.whole


def measure(
    width: int, device: str, precision: Precision, size: tuple[int, int], updates: int
) -> Profile:
    policy = PixelPolicy(width).to(device)
    step = GradientStep(policy, StepSettings(micro_batch_turns=256, micro_batch_tokens=65536))
    settings = LearnerSettings(mode="offline", precision=precision)
    learner = Learner(
        policy, ARide(step), step, ReplayBuffer(), Pacing(1.0), deque(), Nowhere(), settings
    )
    learner.preload(corpus(policy, *size))
    for _ in range(2):  # what is only slow the first time
        learner.step()
    policy.seconds = 0.0
    moving = Stopwatch(policy)
    with (
        patch.object(torch.autograd, "backward", timed(policy.timed, torch.autograd.backward)),
        patch.object(
            step.policy_optimiser, "step", timed(moving.timed, step.policy_optimiser.step)
        ),
        patch.object(
            step.critic_optimiser, "step", timed(moving.timed, step.critic_optimiser.step)
        ),
    ):
        begin = policy.now()
        reports = [learner.step() for _ in range(updates)]
        whole = policy.now() - begin
    stages = {
        name: sum(each.seconds[name] for each in reports if isinstance(each, LearnerReport))
        for name in STAGES
    }
    return Profile(
        policy.parameter_count,
        whole / updates,
        policy.seconds / updates,
        moving.seconds / updates,
        {name: seconds / updates for name, seconds in stages.items()},
    )


class Stopwatch:
    """Adds up the time that something beside the passes takes on the policy's device."""

    def __init__(self, policy: PixelPolicy) -> None:
        self.policy = policy
        self.seconds = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        begin = self.policy.now()
        yield
        self.seconds += self.policy.now() - begin


def timed(watch: Callable[[], AbstractContextManager[None]], call: Call) -> Call:
    """The same call, under a watch."""

    def watched(*arguments: Any, **named: Any) -> Any:
        with watch():
            return call(*arguments, **named)

    return watched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="full", choices=["full", "bf16"])
    parser.add_argument("--screens", default=f"{SIDE}x{SIDE}", help="height x width")
    parser.add_argument("--widths", default="160,1024,3072")
    parser.add_argument("--updates", type=int, default=5)
    chosen = parser.parse_args()
    if chosen.device == "cpu":
        torch.set_num_threads(1)
    height, width = map(int, chosen.screens.split("x"))
    table = Table(title=f"a learner's step: {chosen.screens}, {chosen.device}, {chosen.precision}")
    for name in ("parameters", "whole ms", "passes", "optimisers", "outside", *STAGES):
        table.add_column(name, justify="right")
    for wide in map(int, chosen.widths.split(",")):
        row = measure(wide, chosen.device, chosen.precision, (height, width), chosen.updates)
        seconds = (row.whole, row.passes, row.optimisers)
        table.add_row(
            f"{row.parameters / 1e6:.1f} M",
            *(f"{1e3 * each:.1f}" for each in seconds),
            f"{row.outside:.1%}",
            *(f"{1e3 * each:.1f}" for each in row.stages.values()),
        )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
