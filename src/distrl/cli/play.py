"""`distrl play`: watch a model or a trained run play a task on the simulated phone."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from distrl.cli.evaluate import Evaluation
from distrl.errors import UsageError
from distrl.records import SPLITS, Decision, Split, Task, Trajectory

if TYPE_CHECKING:
    from distrl.episodes.live_feed import LiveFeed

PHONE = "phone"
OPEN_SECONDS = 120.0  # that a page has to be opened, before the agent plays anyway
STEP_SECONDS = 1.0  # that a step takes at least where it is watched in the page


def play(
    model: Annotated[
        str, typer.Argument(help="A run, a model, or an agent such as scripted, as in `evaluate`.")
    ],
    task: Annotated[
        str | None, typer.Argument(help="For example shopping.search/test/3; default: the first.")
    ] = None,
    split: Annotated[str, typer.Option(help="Split of the task, if none is named.")] = "test",
    out: Annotated[Path, typer.Option(help="The recording (.gif, .mp4) to write.")] = Path(
        "out/play.gif"
    ),
    keep: Annotated[
        Path | None, typer.Option(help="Keep the episode here too, for `distrl view`.")
    ] = None,
    view: Annotated[
        bool, typer.Option("--view", help="Show it live in the page of `distrl view`, with --keep.")
    ] = False,
    greedy: Annotated[
        bool, typer.Option("--greedy/--sampled", help="Take likeliest tokens.")
    ] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the task and of sampling.")] = 0,
    device: Annotated[str, typer.Option(help="Where the model computes: cpu or cuda.")] = "cpu",
) -> None:
    """Watch an agent play: every step as it is decided, and a recording of it."""
    from distrl.reporting.recording import require_recording, verdict_line, write_recording

    require_recording(out)
    evaluation = Evaluation(
        model=model, seed=seed, temperature=None if greedy else 1.0, device=device
    )
    console = Console()
    if view and keep is None:
        raise UsageError("--view shows what is kept: give --keep DIR as well")
    chosen = _chosen(task, split, seed)
    if keep is None:
        trajectory = play_task(console, evaluation, chosen)
    else:
        trajectory = _play_and_keep(console, evaluation, chosen, keep, view=view)
    console.print(verdict_line(trajectory)[0], highlight=False, markup=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_recording([trajectory], out)
    console.print(str(out), highlight=False, markup=False)
    if view:
        console.print("the page is there until Ctrl-C", highlight=False)
        with suppress(KeyboardInterrupt):
            signal.pause()
    elif keep is not None:
        console.print(f"look at it: distrl view {keep}", highlight=False, markup=False)


def _play_and_keep(
    console: Console, evaluation: Evaluation, task: Task, keep: Path, *, view: bool
) -> Trajectory:
    """Play and keep it; with `view` once somebody looks, and slowly enough to be followed."""
    from distrl.episodes.live_feed import LiveFeed
    from distrl.runs.kept_episodes import KeptEpisodes

    with KeptEpisodes.open(keep) as kept, kept.run.held():  # held: the page says that it goes on
        live = LiveFeed(keep, "play", [PHONE])
        if view:
            from distrl.cli.view import show_along

            show_along(keep)
            console.print("it begins when the wall of this page is open:", highlight=False)
            end = time.monotonic() + OPEN_SECONDS
            while not live.watched and time.monotonic() < end:
                time.sleep(0.2)
        trajectory = play_task(console, evaluation, task, live, STEP_SECONDS if view else 0.0)
        kept.add(trajectory, PHONE)
        live.close()
    return trajectory


def play_task(
    console: Console,
    evaluation: Evaluation,
    task: Task,
    live: LiveFeed | None = None,  # shows it while it is played
    step_seconds: float = 0.0,  # that a step takes at least
) -> Trajectory:
    """Play one task, and print each step before it is carried out."""
    from distrl.agent.policy import reads_elements
    from distrl.episodes.episode import WORKS, Episode
    from distrl.episodes.scheduler import Assignment, Lease
    from distrl.episodes.stage_timer import StageTimer
    from phonesim.simulated_device import SimulatedDevice
    from phonesim.tasks.fact_judge import FactJudge

    phone = SimulatedDevice(PHONE)
    judge = FactJudge(phone)
    lease = Lease(phone, StageTimer(WORKS), Assignment(task), task.id, time.time())
    console.print(f"[bold]{escape(task.instruction)}[/]  [dim]{escape(task.id)}[/]")
    with evaluation.policy_for() as policy_for:
        policy = policy_for(task, phone, judge)
        episode = Episode.begin(task, phone, judge, elements=reads_elements(policy))
        while not episode.ended:
            if live is not None:
                live.show(lease, "deciding", episode)
            [decision] = policy.decide([episode.observation])
            number = len(episode.decisions) + 1
            console.print(_line(number, task.step_limit, decision), highlight=False)
            if live is not None:
                live.show(lease, "acting", episode, decision)
                time.sleep(step_seconds)
            episode.take(decision)
        trajectory = episode.trajectory()
        if live is not None:
            live.show(lease, "delivering", ended=trajectory)
    return trajectory


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


def _chosen(task: str | None, split: str, seed: int) -> Task:
    from distrl.episodes.evaluation import evaluation_tasks
    from phonesim.tasks.task_sets import load_task

    if task is not None:
        return load_task(task)[0]
    known: list[Split] = [each for each in SPLITS if each == split]
    if not known:
        raise UsageError(f"--split {split}: there are {', '.join(SPLITS)}")
    return next(islice(evaluation_tasks(known[0], seed=seed), 1))
