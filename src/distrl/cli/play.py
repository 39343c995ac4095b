"""`distrl play`: watch a model or a trained run play a task on the simulated phone."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from distrl.cli.evaluate import Evaluation
from distrl.errors import UsageError
from distrl.records import SPLITS, Decision, Split, Task, Trajectory


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
    trajectory = play_task(console, evaluation, _chosen(task, split, seed))
    console.print(verdict_line(trajectory)[0], highlight=False, markup=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_recording([trajectory], out)
    console.print(str(out), highlight=False, markup=False)
    if keep is not None:
        from distrl.runs.kept_episodes import KeptEpisodes

        with KeptEpisodes.open(keep) as kept:
            kept.add(trajectory, "phone")
        console.print(f"look at it: distrl view {keep}", highlight=False, markup=False)


def play_task(console: Console, evaluation: Evaluation, task: Task) -> Trajectory:
    """Play one task, and print each step before it is carried out."""
    from distrl.episodes.episode import Episode
    from phonesim.simulated_device import SimulatedDevice
    from phonesim.tasks.fact_judge import FactJudge

    phone = SimulatedDevice("phone")
    judge = FactJudge(phone)
    console.print(f"[bold]{escape(task.instruction)}[/]  [dim]{escape(task.id)}[/]")
    with evaluation.policy_for() as policy_for:
        policy = policy_for(task, phone, judge)
        episode = Episode.begin(task, phone, judge)
        while not episode.ended:
            [decision] = policy.decide([episode.observation])
            number = len(episode.decisions) + 1
            console.print(_line(number, task.step_limit, decision), highlight=False)
            episode.take(decision)
    return episode.trajectory()


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
