"""Profile a learner's step by stage, for models of growing size.

    python -m benchmarks.learner_profile [--device cuda] [--precision bf16] [--screens 720x360]
    python -m benchmarks.learner_profile --model DIRECTORY [--lora] …

Without `--model`, toy models of growing size learn (`pixel_policy`). Sixteen trajectories of ten
steps are drawn for each update, up to sixteen more are refreshed; few of them are drawn twice. All
times are milliseconds of one update (on a CPU, CPU time of this process, except for the stages,
which are wall time). "Passes" are forward and backward through the model, wherever they are needed
(the refresh has some too); "outside" is the share of the step outside the passes, including the
optimisers: draws, unpacking and preparing screens, rewards, padding, targets, clipping, priorities,
reports. "Peak" is the share of the device's peak, where that is known.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from benchmarks.pixel_policy import SIDE, PixelPolicy
from distrl.agent.policy import Policy
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import STAGES, LearnerReport
from distrl.learning.learner_settings import LearnerSettings, Precision
from distrl.records import Ending, Observation, Screen, Task, Trajectory, Verdict
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer

if TYPE_CHECKING:
    from distrl.agent.vlm_policy import VlmPolicy

Call = Callable[..., Any]
STEPS, CORPUS, MODEL_CORPUS, ANSWER = 10, 256, 64, 12
TASK = Task("profile/train/0", "Go on", "general", "profile", "train", 0, (), "easy", STEPS)


class Nowhere:
    """A `Publisher` that discards the weights."""

    def publish(self, weights: Mapping[str, Tensor], version: int) -> None: ...


def corpus(policy: Policy, height: int, width: int, count: int = CORPUS) -> list[Trajectory]:
    """Return trajectories whose screens are random boxes that compress about as real ones do."""
    return [trajectory(policy, height, width, number) for number in range(count)]


def trajectory(policy: Policy, height: int, width: int, number: int) -> Trajectory:
    rng = np.random.default_rng(number)
    screens = [drawn(rng, height, width) for _ in range(STEPS + 1)]
    decisions = policy.decide([Observation("Go on", each, ()) for each in screens[:-1]])
    success = number % 2 == 0
    ending = Ending.SUCCESS if success else Ending.STEP_LIMIT
    verdict = Verdict(success, "", "profile")
    return Trajectory(str(number), TASK, tuple(decisions), tuple(screens), ending, verdict, 0.0)


def drawn(rng: np.random.Generator, height: int, width: int) -> Screen:
    pixels = np.full((height, width, 3), 250, np.uint8)
    for _ in range(12):
        top, left = rng.integers(0, height), rng.integers(0, width)
        colour = rng.integers(0, 256, 3)
        pixels[top : top + height // 8, left : left + width // 4] = colour
    return Screen(pixels)


@dataclass(frozen=True)
class Profile:
    """The times of one update, in seconds, and its rates."""

    parameters: int
    whole: float
    passes: float  # forward and backward
    preparing: float  # preparing screens and prompts for the model
    optimisers: float
    stages: dict[str, float]
    tokens_per_second: float  # tokens through the model
    peak_share: float | None

    @property
    def outside(self) -> float:
        """Return the share of the step outside the passes."""
        return 1.0 - self.passes / self.whole


class Stopwatch:
    """Adds up the durations of calls."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.seconds = 0.0

    def now(self) -> float:
        """Return wall time after a synchronisation on a GPU, else CPU time of this process, which
        other load on the machine does not lengthen.
        """
        if self.device.type != "cuda":
            return time.process_time()
        torch.cuda.synchronize()
        return time.perf_counter()

    @contextmanager
    def on(self, owner: Any, *names: str) -> Iterator[None]:
        """Time these methods of the owner while the context is open."""
        with ExitStack() as patches:
            for name in names:
                patches.enter_context(patch.object(owner, name, self._timed(getattr(owner, name))))
            yield

    def _timed(self, call: Call) -> Call:
        def timed(*arguments: Any, **named: Any) -> Any:
            begin = self.now()
            answer = call(*arguments, **named)
            self.seconds += self.now() - begin
            return answer

        return timed


def measure(
    policy: PixelPolicy | VlmPolicy, precision: Precision, size: tuple[int, int], updates: int
) -> Profile:
    toy = isinstance(policy, PixelPolicy)
    turns, episodes = (256, CORPUS) if toy else (32, MODEL_CORPUS)
    step = GradientStep(policy, StepSettings(micro_batch_turns=turns))
    settings = LearnerSettings(mode="offline", precision=precision)
    algorithm = ARide(step, ARideSettings(advantage="signed"))  # as measured
    learner = Learner(
        policy, algorithm, step, ReplayBuffer(), Pacing(1.0), deque(), Nowhere(), settings
    )
    learner.preload(corpus(policy, *size, episodes))
    for _ in range(2):  # warm-up
        learner.step()
    whole, scoring, back, preparing, moving = (Stopwatch(learner.device) for _ in range(5))
    prepare = "_look" if toy else "_inputs"
    with (
        whole.on(learner, "step"),
        scoring.on(policy, "score", "value_logits"),
        preparing.on(policy, prepare),
        back.on(torch.autograd, "backward"),
        moving.on(step.policy_optimiser, "step"),
        moving.on(step.critic_optimiser, "step"),
    ):
        answers = [learner.step() for _ in range(updates)]
    reports = [each for each in answers if isinstance(each, LearnerReport)]
    shares = [each.peak_share for each in reports if each.peak_share is not None]
    return Profile(
        parameters=policy.parameter_count,
        whole=whole.seconds / updates,
        passes=(scoring.seconds - preparing.seconds + back.seconds) / updates,
        preparing=preparing.seconds / updates,
        optimisers=moving.seconds / updates,
        stages={name: sum(each.seconds[name] for each in reports) / updates for name in STAGES},
        tokens_per_second=sum(each.work.tokens for each in reports if each.work) / whole.seconds,
        peak_share=sum(shares) / len(shares) if shares else None,
    )


def policies(chosen: argparse.Namespace) -> Iterator[PixelPolicy | VlmPolicy]:
    if not chosen.model:
        for wide in map(int, chosen.widths.split(",")):
            yield PixelPolicy(wide, patches=chosen.patches).to(chosen.device)
        return
    from distrl.agent.answer_sampling import SamplingSettings  # imports all of transformers
    from distrl.agent.loading import open_policy
    from distrl.agent.lora import LoraSettings
    from distrl.agent.vlm_settings import VlmSettings

    settings = VlmSettings(
        sampling=SamplingSettings(max_new_tokens=ANSWER),
        lora=LoraSettings() if chosen.lora else None,
        device=chosen.device,
    )
    yield open_policy(chosen.model, settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="", help="a directory, or an id of the hub")
    parser.add_argument("--lora", action="store_true", help="train adapters of the model")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="full", choices=["full", "bf16"])
    parser.add_argument("--screens", default=f"{SIDE}x{SIDE}", help="height x width")
    parser.add_argument("--widths", default="256,768,2048")
    parser.add_argument("--patches", type=int, default=16, help="tokens of a screen")
    parser.add_argument("--updates", type=int, default=5)
    chosen = parser.parse_args()
    if chosen.device == "cpu":
        torch.set_num_threads(1)
    height, width = map(int, chosen.screens.split("x"))
    kind = chosen.model or f"toys, {chosen.patches} tokens a screen"
    table = Table(
        title=f"a learner's step: {kind}, screens of {chosen.screens}, {chosen.device}, "
        f"{chosen.precision}"
    )
    figures = ("parameters", "whole ms", "passes", "outside", "preparing", "optimisers")
    for name in (*figures, *STAGES, "tokens/s", "peak"):
        table.add_column(name, justify="right")
    for policy in policies(chosen):
        row = measure(policy, chosen.precision, (height, width), chosen.updates)
        table.add_row(
            f"{row.parameters / 1e6:.1f} M",
            *(f"{1e3 * each:.1f}" for each in (row.whole, row.passes)),
            f"{row.outside:.1%}",
            *(f"{1e3 * each:.1f}" for each in (row.preparing, row.optimisers)),
            *(f"{1e3 * each:.1f}" for each in row.stages.values()),
            f"{row.tokens_per_second:,.0f}",
            "?" if row.peak_share is None else f"{row.peak_share:.1%}",
        )
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
