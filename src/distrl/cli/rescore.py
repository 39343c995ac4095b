"""`distrl rescore`: judge the stored trajectories of a finished run again.

Each judgement is appended to the run's `judgements.jsonl` with its judge, reason, cost and
duration; the judge's cache lies beside it, so that no question is paid for twice. A run that is
still going on is refused. The run's episode log is not changed: it keeps the original endings.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from distrl.errors import UsageError

if TYPE_CHECKING:
    from distrl.config.sections import JudgeSettings
    from distrl.judging.rescoring import RescoreCounts


def rescore(
    run: Annotated[Path, typer.Argument(help="Directory of a run that is not going on.")],
    server: Annotated[
        str,
        typer.Option(help="URL of an OpenAI-compatible server, such as http://localhost:8000/v1."),
    ],
    model: Annotated[str, typer.Option(help="Name of the model that judges.")],
    only_unjudged: Annotated[
        bool, typer.Option("--only-unjudged", help="Judge only trajectories without a verdict.")
    ] = False,
    examples: Annotated[
        Path | None, typer.Option(help="Few-shot examples for the judge (TOML).")
    ] = None,
    screens: Annotated[
        int, typer.Option(min=1, help="Number of last screens that the judge sees.")
    ] = 2,
    second_model: Annotated[
        str, typer.Option(help="Name of a second model that judges a share of the trajectories.")
    ] = "",
    second_share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of trajectories for the second model.")
    ] = 0.1,
    at_once: Annotated[int, typer.Option(min=1, help="Number of concurrent requests.")] = 16,
    per_minute: Annotated[float, typer.Option(help="Maximum number of requests a minute.")] = inf,
    max_cost: Annotated[
        float, typer.Option(help="Stop when this cost is reached, in the currency of the prices.")
    ] = inf,
    prompt_price: Annotated[
        float, typer.Option(min=0, help="Price of a million prompt tokens.")
    ] = 0.0,
    answer_price: Annotated[
        float, typer.Option(min=0, help="Price of a million answer tokens.")
    ] = 0.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Judge, but do not store the verdicts.")
    ] = False,
) -> None:
    """Judge a run's stored trajectories again; later training uses the new verdicts.

    The judge's API key, if it needs one, is read from the environment variable DISTRL_JUDGE_KEY.
    """
    from distrl.config.sections import JudgeSettings

    settings = JudgeSettings(
        kind="vlm",
        server=server,
        model=model,
        examples=str(examples or ""),
        last_screens=screens,
        at_once=at_once,
        requests_per_minute=per_minute,
        max_cost=max_cost,
        prompt_price=prompt_price,
        answer_price=answer_price,
        second_model=second_model,
        second_share=second_share,
    )
    rescore_run(Console(), run, settings, only_unjudged=only_unjudged, dry_run=dry_run)


def rescore_run(
    console: Console,
    directory: Path,
    settings: JudgeSettings,
    *,
    only_unjudged: bool = False,
    dry_run: bool = False,
) -> RescoreCounts:
    """Judge the run's trajectories, store the verdicts and print a summary."""
    from distrl.config.training_config import load_run_config
    from distrl.engine.ingest.deferred_judging import open_judge, second_opinion_summary
    from distrl.json_lines import LineLog
    from distrl.judging.judge_thread_pool import JudgeThreadPool
    from distrl.judging.rescoring import Rescoring, without_verdict
    from distrl.learning.checkpoint import CheckpointFolder
    from distrl.replay.store.trajectory_store import TrajectoryStore
    from distrl.runs.run_directory import RunDirectory
    from distrl.runs.run_progress import note_progress

    run = RunDirectory.existing(directory)
    if not run.trajectories.is_dir():
        raise UsageError(f"{run.path} has no stored trajectories to judge")
    with ExitStack() as opened:
        judge = open_judge(settings, run.judge_cache, opened)
        opened.enter_context(run.held())
        config = load_run_config(run.config)
        store = opened.enter_context(TrajectoryStore(run.trajectories, config.store))
        log = opened.enter_context(LineLog.open(run.path / "judgements.jsonl"))
        judge_pool = opened.enter_context(JudgeThreadPool(judge, settings.at_once))
        # List the ids first: a corrected trajectory is stored anew and would be read again.
        stored = (found for name in store.ids if (found := store.find(name)) is not None)
        wanted = without_verdict(stored) if only_unjudged else stored
        counts = Rescoring(store, judge_pool, log.append, dry_run=dry_run).rescore(wanted)
        note_progress(run, CheckpointFolder(run.checkpoints).latest(), store.position)
    for damage in store.damages:
        console.print(f"left out, {damage}", highlight=False, markup=False)
    for line in _summary(directory, settings.model, counts, dry_run=dry_run):
        console.print(line, highlight=False, markup=False)
    if second := second_opinion_summary(judge):
        console.print(second, highlight=False)
    return counts


def _summary(directory: Path, model: str, counts: RescoreCounts, *, dry_run: bool) -> Iterator[str]:
    kept = "would be corrected (dry run)" if dry_run else "corrected"
    judged = f"{counts.looked_at} judged by {model} ({counts.cached} from the cache)"
    changed = f"{counts.to_success} became successes, {counts.to_failure} failures"
    yield f"{judged}, {counts.undecided} without a verdict, {counts.passed_over} not to be judged"
    yield f"{counts.corrected} {kept}: {counts.newly_judged} had no verdict before, {changed}"
    yield f"cost {counts.cost:.4g}, {counts.seconds:.1f} s of the judge's time"
    if counts.agreement.total:
        yield (
            f"disagrees with the stored verdicts on {counts.agreement.disagreement:.1%} of "
            f"{counts.agreement.total}"
        )
    if counts.corrected and not dry_run:
        yield (
            f"train on them: distrl train --resume {directory}, or a new run with "
            f"--set learning.corpus={directory}"
        )
