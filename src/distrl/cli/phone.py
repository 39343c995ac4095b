"""The commands `distrl phone …`: those of `python -m phonesim`, and one that plays tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distrl.errors import UsageError
from phonesim.cli import phone_app as pictures_app

phone_app = typer.Typer(
    no_args_is_help=True, help="The simulated phone: draw its screens, play tasks on it."
)
phone_app.add_typer(pictures_app)


@phone_app.command()
def play(
    task_ids: Annotated[
        list[str], typer.Argument(metavar="TASK…", help="The tasks, such as notes.create/train/3")
    ],
    out: Annotated[
        Path, typer.Option(help="A recording (.gif, .mp4) or a contact sheet (.png).")
    ] = Path("out/episode.png"),
    agent: Annotated[
        str, typer.Option(help="The agent: scripted, monkey, idle or done.")
    ] = "scripted",
) -> None:
    """Play tasks, with the agent's finger drawn on every screen."""
    from distrl.episodes.episode import run_episode
    from distrl.episodes.evaluation import SIMPLE_AGENTS
    from distrl.reporting.recording import require_recording, write_recording
    from phonesim.simulated_device import SimulatedDevice
    from phonesim.tasks.fact_judge import FactJudge
    from phonesim.tasks.task_sets import load_task

    if agent not in SIMPLE_AGENTS:
        raise UsageError(f"no agent called {agent!r}; there are {', '.join(SIMPLE_AGENTS)}")
    require_recording(out)
    device = SimulatedDevice("recording")
    judge = FactJudge(device)
    played = []
    for task, _ in [load_task(task_id) for task_id in task_ids]:
        policy = SIMPLE_AGENTS[agent](task, device, judge)
        played.append(run_episode(task, device, policy, judge))
    write_recording(played, out)
    for trajectory in played:
        typer.echo(f"{trajectory.ending.value}: {trajectory.task.instruction}")
    typer.echo(out)
