"""`distrl play`: watch a model or a trained run play a task, live in the page and as a recording.

It plays on the simulated phone, or with `--on` on a device of any settings: a phone over adb, a
web page. Those are opened by `engine.environment`, as for `distrl evaluate --on`.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from distrl.agent.policy import Policy
from distrl.cli.evaluate import Evaluation
from distrl.cli.train import Overrides
from distrl.devices.device import Device
from distrl.errors import UsageError
from distrl.judging.judge import Judge
from distrl.records import DRY_RUN_MARK, SPLITS, Decision, Split, Task, Trajectory

if TYPE_CHECKING:
    from distrl.episodes.episode import Episode
    from distrl.episodes.live_feed import LiveFeed

PHONE = "phone"
OPEN_SECONDS = 120.0  # to wait for the page to be opened before the agent plays anyway
On = Annotated[
    str | None,
    typer.Option(
        help="Play on the first device of these settings (a TOML file, a name such as miniwob, or "
        "a run) instead of a simulated phone."
    ),
]
SplitOption = Annotated[
    str | None,
    typer.Option(
        help="Split of the task, if none is named; default: test, with --on the split that the "
        "settings evaluate on."
    ),
]
STEP_SECONDS = 1.0  # minimum duration of a step that is watched in the page


def play(
    model: Annotated[
        str, typer.Argument(help="A run, a model, or an agent such as scripted, as in `evaluate`.")
    ],
    task: Annotated[
        str | None, typer.Argument(help="A task: shopping.search/test/3; default: the first.")
    ] = None,
    split: SplitOption = None,
    out: Annotated[Path, typer.Option(help="The recording (.gif, .mp4) to write.")] = Path(
        "out/play.gif"
    ),
    keep: Annotated[
        Path | None, typer.Option(help="A folder for the episode, for `distrl view`.")
    ] = None,
    view: Annotated[
        bool, typer.Option("--view", help="Show it live in the page of `distrl view`, with --keep.")
    ] = False,
    on: On = None,
    overrides: Overrides = None,
    greedy: Annotated[
        bool, typer.Option("--greedy/--sampled", help="Take the likeliest tokens, or sample.")
    ] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the task and of sampling.")] = 0,
    device: Annotated[str, typer.Option(help="Where the model computes: cpu or cuda.")] = "cpu",
) -> None:
    """Watch an agent play one task, step by step, and write a recording."""
    from distrl.episodes.live_feed import LiveFeed
    from distrl.reporting.recording import require_recording

    require_recording(out)
    evaluation = Evaluation(
        model=model, seed=seed, temperature=None if greedy else 1.0, device=device
    )
    console = Console()
    if view and keep is None:
        raise UsageError("--view shows what is kept: give --keep DIR as well")
    wanted = Wanted(task, None if split is None else _split(split), seed)
    if on is None and not overrides:
        opened = _simulated(wanted)
    else:
        opened = _settled(console, evaluation, wanted, (on, overrides or []), keep)
    with evaluation.policy_for() as policy_for, opened as setup:
        mark = setup.mark
        player = Player(console, setup, policy_for(setup.task, setup.device, setup.judge))
        if keep is None:
            trajectory = player.play(LiveFeed(None))
        else:
            trajectory = _play_and_keep(player, keep, view=view)
    _record(console, trajectory, out, mark)
    if mark:
        from distrl.engine.device_wiring import DRY_RUN_ENDED

        console.print(DRY_RUN_ENDED, highlight=False, markup=False)
    if view:
        console.print(f"{mark}the page is there until Ctrl-C", highlight=False)
        with suppress(KeyboardInterrupt):
            signal.pause()
    elif keep is not None:
        console.print(f"{mark}look at it: distrl view {keep}", highlight=False, markup=False)


def _record(console: Console, trajectory: Trajectory, out: Path, mark: str) -> None:
    """Print how the episode ended, and write the recording."""
    from distrl.reporting.recording import verdict_line, write_recording

    console.print(f"{mark}{verdict_line(trajectory)[0]}", highlight=False, markup=False)
    write_recording([trajectory], out)
    console.print(f"{mark}{out}", highlight=False, markup=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested task; `task` is None for the first of the split."""

    task: str | None
    split: Split | None  # None: the one that the settings evaluate on; without settings, test
    seed: int


@dataclass(frozen=True, slots=True)
class Setup:
    """The task, the device to play it on, and its judge."""

    task: Task
    device: Device
    judge: Judge
    stop_on_success: bool = False
    mark: str = ""  # printed before every line of a dry run


@contextmanager
def _simulated(wanted: Wanted) -> Iterator[Setup]:
    """Set up a simulated phone, which needs no optional package."""
    from distrl.episodes.evaluation import evaluation_tasks
    from phonesim.simulated_device import SimulatedDevice
    from phonesim.tasks.fact_judge import FactJudge
    from phonesim.tasks.task_sets import load_task

    if wanted.task is not None:
        task = load_task(wanted.task)[0]
    else:
        task = next(islice(evaluation_tasks(wanted.split or "test", seed=wanted.seed), 1))
    with SimulatedDevice(PHONE) as phone:
        yield Setup(task, phone, FactJudge(phone))


@contextmanager
def _settled(
    console: Console,
    evaluation: Evaluation,
    wanted: Wanted,
    settings: tuple[str | None, list[str]],  # a file or a run, and overrides
    keep: Path | None,
) -> Iterator[Setup]:
    """Set up the first device of the settings; log what a guarded phone refuses below `keep`."""
    from distrl.config.training_config import load_config
    from distrl.engine.device_wiring import is_dry
    from distrl.engine.environment import open_environment

    on, overrides = settings
    config = load_config(Path(on) if on else None, overrides)
    mark = f"{DRY_RUN_MARK} · " if is_dry(config) else ""
    check_sizes = evaluation.check_sizes(
        lambda words: console.print(f"{mark}{words}", highlight=False, markup=False)
    )
    logs = keep / "logs" if keep else None
    with open_environment(config, wanted.split, 1, wanted.seed, logs, check_sizes) as environment:
        if wanted.task is not None:
            task = environment.pool.find(wanted.task)
        else:
            task = next(environment.tasks())
        [device] = environment.devices
        judge, stops = environment.judge_for(device), environment.stop_on_success
        yield Setup(task, device, judge, stops, mark)


def _split(split: str) -> Split:
    for known in SPLITS:
        if known == split:
            return known
    raise UsageError(f"--split {split}: there are {', '.join(SPLITS)}")


def _play_and_keep(player: Player, keep: Path, *, view: bool) -> Trajectory:
    """Play and store the episode; with `view`, wait for a viewer and play slowly enough for one."""
    from distrl.episodes.live_feed import LiveFeed
    from distrl.runs.kept_episodes import KeptEpisodes

    device = player.setup.device.name
    with KeptEpisodes.open(keep) as kept, kept.run.held():  # locked: shown as running
        live = LiveFeed(keep, "play", [device])
        if view:
            from distrl.cli.view import show_along

            show_along(keep)
            said = "it begins when the wall of this page is open:"
            player.console.print(f"{player.setup.mark}{said}", highlight=False)
            end = time.monotonic() + OPEN_SECONDS
            while not live.watched and time.monotonic() < end:
                time.sleep(0.2)
        trajectory = player.play(live, STEP_SECONDS if view else 0.0)
        kept.add(trajectory, device)
        live.close()
    return trajectory


@dataclass(frozen=True, slots=True)
class Player:
    """Plays a task once, and prints each step before it is carried out."""

    console: Console
    setup: Setup
    policy: Policy

    def play(self, live: LiveFeed, step_seconds: float = 0.0) -> Trajectory:
        """Play the task to its end; `step_seconds` is the minimum duration of a step."""
        from distrl.episodes.episode import WORKS
        from distrl.episodes.scheduler import Assignment, Lease
        from distrl.episodes.stage_timer import StageTimer

        task, device = self.setup.task, self.setup.device
        lease = Lease(device, StageTimer(WORKS), Assignment(task), task.id, time.time())
        live.show(lease, "resetting")
        episode = self._begun()
        while not episode.ended:
            live.show(lease, "deciding", episode)
            [decision] = self.policy.decide([episode.observation])
            number = len(episode.decisions) + 1
            line = _line(number, task.step_limit, decision)
            self.console.print(f"{self.setup.mark}{line}", highlight=False)
            live.show(lease, "acting", episode, decision)
            time.sleep(step_seconds)
            episode.take(decision)
        trajectory = episode.trajectory()
        live.show(lease, "delivering", ended=trajectory)
        return trajectory

    def _begun(self) -> Episode:
        from distrl.episodes.evaluation import begin_episode

        setup = self.setup
        episode = begin_episode(
            setup.task,
            setup.device,
            setup.judge,
            self.policy,
            stop_on_success=setup.stop_on_success,
        )
        said = f"[bold]{escape(episode.task.instruction)}[/]  [dim]{escape(episode.task.id)}[/]"
        self.console.print(f"{setup.mark}{said}", highlight=False)
        return episode


def _line(number: int, limit: int, decision: Decision) -> str:
    from distrl.episodes.live_feed import confidence
    from distrl.reporting.recording import describe

    sure = confidence(decision)
    thought = "" if sure is None else f"{sure:.0%} sure"
    answer = decision.text.replace("\n", " ")[:80]
    return (
        f"{number:3}/{limit}  {escape(describe(decision.action)):30}  [dim]{thought:10}"
        f"  {escape(answer)}[/]"
    )
