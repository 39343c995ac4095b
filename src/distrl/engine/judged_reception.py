"""A reception with the judge behind it that a run's settings ask for, opened."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from distrl.config.judge_section import JudgeSettings
from distrl.engine.arrival_queue import ArrivalQueue
from distrl.engine.episode_ledger import EpisodeLedger
from distrl.engine.judge_opening import open_judge, words_on_second
from distrl.engine.later_verdicts import LaterVerdicts
from distrl.engine.reception import Reception
from distrl.replay.trajectory_store import TrajectoryStore
from distrl.reporting.json_lines import LineLog
from distrl.reporting.run_directory import RunDirectory
from distrl.tasks.judge_bench import JudgeBench
from distrl.tasks.judgement import TrajectoryJudge

Say = Callable[[str], None]


def open_reception(
    settings: JudgeSettings,
    run: RunDirectory,
    store: TrajectoryStore,
    arrivals: ArrivalQueue,
    ledger: EpisodeLedger,
    say: Say,
    opened: ExitStack,
) -> Reception:
    """Where trajectories come in; one that needs a verdict gets it on its way to the learner."""
    if not settings.later:
        return Reception(store, arrivals, ledger)
    judge = open_judge(settings, run.path / "judge_cache.jsonl", opened)
    log = opened.enter_context(LineLog.open(run.path / "judgements.jsonl"))
    bench = opened.enter_context(JudgeBench(judge, settings.at_once))
    verdicts = LaterVerdicts(bench, store, arrivals, ledger, log.append, say)
    opened.callback(_tell, run, verdicts, judge, say)
    return Reception(
        store, arrivals, ledger, verdicts=verdicts, most_unjudged=settings.most_waiting
    )


def _tell(run: RunDirectory, verdicts: LaterVerdicts, judge: TrajectoryJudge, say: Say) -> None:
    """At the end: what the judge did, and what is left to it."""
    say(str(verdicts.tally))
    if second := words_on_second(judge):
        say(second)
    left = len(verdicts) + verdicts.tally.unavailable
    if left:
        say(
            f"{left} trajectories are stored without a verdict: "
            f"distrl rescore {run.path} --only-unjudged --server … --model …"
        )
