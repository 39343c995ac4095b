"""What `distrl rescore` does: a run's trajectories get new verdicts from a judge of your choice.

Each verdict is written down in the run's `judgements.jsonl`, with who gave it, why, what it cost
and how long it took; the judge's cache is beside it, so that no question is paid for twice. The run
must not be going on. Its log of episodes stays as it was: it tells what happened then.
"""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from distrl.config.judge_section import JudgeSettings
from distrl.config.training_config import load_config
from distrl.engine.ingest.judged_receiver import open_judge, second_opinion_summary
from distrl.errors import UsageError
from distrl.judging.judge_thread_pool import JudgeThreadPool
from distrl.judging.rate_budget import BudgetSettings
from distrl.judging.rescoring import RescoreCounts, Rescoring, without_verdict
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.json_lines import LineLog
from distrl.runs.run_directory import RunDirectory


@dataclass(frozen=True, slots=True)
class RescoreRequest:
    """Which trajectories, and who judges them."""

    run: Path
    server: str  # an OpenAI-compatible url, up to and with /v1
    model: str
    only_unjudged: bool = False
    examples: Path | None = None  # few-shot examples, as TOML; none: ours
    last_screens: int = 2
    second_model: str = ""  # asked about `second_share` of the trajectories as well
    second_share: float = 0.1
    at_once: int = 16
    budget: BudgetSettings = dataclasses.field(default_factory=BudgetSettings)
    prompt_price: float = 0.0
    answer_price: float = 0.0
    dry_run: bool = False


def rescore(console: Console, request: RescoreRequest) -> RescoreCounts:
    """Judge, keep, and say what came of it."""
    run = RunDirectory.existing(request.run)
    if not run.trajectories.is_dir():
        raise UsageError(f"{run.path} has no stored trajectories to judge")
    with ExitStack() as opened:
        judge = open_judge(_settings(request), run.path / "judge_cache.jsonl", opened)
        opened.enter_context(run.held())
        config = load_config(run.config)
        store = opened.enter_context(TrajectoryStore(run.trajectories, config.store))
        log = opened.enter_context(LineLog.open(run.path / "judgements.jsonl"))
        judge_pool = opened.enter_context(JudgeThreadPool(judge, request.at_once))
        # Listed first: a correction makes a trajectory new to whoever reads on.
        stored = (found for name in store.ids if (found := store.find(name)) is not None)
        wanted = without_verdict(stored) if request.only_unjudged else stored
        counts = Rescoring(store, judge_pool, log.append, dry_run=request.dry_run).rescore(wanted)
    _show(console, request, counts)
    if second := second_opinion_summary(judge):
        console.print(second, highlight=False)
    return counts


def _settings(request: RescoreRequest) -> JudgeSettings:
    return JudgeSettings(
        kind="vlm",
        server=request.server,
        model=request.model,
        examples=str(request.examples or ""),
        last_screens=request.last_screens,
        requests_per_minute=request.budget.requests_per_minute,
        burst=request.budget.burst,
        max_cost=request.budget.max_cost,
        prompt_price=request.prompt_price,
        answer_price=request.answer_price,
        second_model=request.second_model,
        second_share=request.second_share,
    )


def _show(console: Console, request: RescoreRequest, counts: RescoreCounts) -> None:
    kept = "would be corrected (dry run)" if request.dry_run else "corrected"
    judged = f"{counts.looked_at} judged by {request.model} ({counts.cached} from the cache)"
    changed = f"{counts.to_success} became successes, {counts.to_failure} failures"
    lines = [
        f"{judged}, {counts.undecided} without a verdict, {counts.passed_over} not to be judged",
        f"{counts.corrected} {kept}: {counts.newly_judged} had no verdict before, {changed}",
        f"cost {counts.cost:.4g}, {counts.seconds:.1f} s of the judge's time",
    ]
    if counts.agreement.total:
        lines.append(
            f"disagrees with the stored verdicts on {counts.agreement.disagreement:.1%} of "
            f"{counts.agreement.total}"
        )
    if counts.corrected and not request.dry_run:
        lines.append(
            f"train on them: distrl train --resume {request.run}, or a new run with "
            f"--set learning.corpus={request.run}"
        )
    for line in lines:
        console.print(line, highlight=False, markup=False)
