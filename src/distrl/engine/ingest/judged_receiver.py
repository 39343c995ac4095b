"""A reception with the judge behind it that a run's settings ask for, opened."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from distrl.config.judge_section import JudgeSettings
from distrl.engine.ingest.arrival_queue import ArrivalQueue
from distrl.engine.ingest.deferred_judging import DeferredJudging
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.judge_opening import open_judge, words_on_second
from distrl.engine.ingest.trajectory_receiver import TrajectoryReceiver
from distrl.json_lines import LineLog
from distrl.judging.judge import TrajectoryJudge
from distrl.judging.judge_thread_pool import JudgeThreadPool
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory

Say = Callable[[str], None]


def open_receiver(
    settings: JudgeSettings,
    run: RunDirectory,
    store: TrajectoryStore,
    arrivals: ArrivalQueue,
    episode_log: EpisodeLog,
    say: Say,
    opened: ExitStack,
) -> TrajectoryReceiver:
    """Where trajectories come in; one that needs a verdict gets it on its way to the learner."""
    if not settings.later:
        return TrajectoryReceiver(store, arrivals, episode_log)
    judge = open_judge(settings, run.path / "judge_cache.jsonl", opened)
    log = opened.enter_context(LineLog.open(run.path / "judgements.jsonl"))
    judge_pool = opened.enter_context(JudgeThreadPool(judge, settings.at_once))
    verdicts = DeferredJudging(judge_pool, store, arrivals, episode_log, log.append, say)
    opened.callback(_tell, run, verdicts, judge, say)
    return TrajectoryReceiver(
        store, arrivals, episode_log, verdicts=verdicts, max_unjudged=settings.max_waiting
    )


def _tell(run: RunDirectory, verdicts: DeferredJudging, judge: TrajectoryJudge, say: Say) -> None:
    """At the end: what the judge did, and what is left to it."""
    say(str(verdicts.counts))
    if second := words_on_second(judge):
        say(second)
    left = len(verdicts) + verdicts.counts.unavailable
    if left:
        say(
            f"{left} trajectories are stored without a verdict: "
            f"distrl rescore {run.path} --only-unjudged --server … --model …"
        )
