"""Opens what a run's judge settings ask for: the judge, and the receiver with the judge behind it.

The engines call `open_receiver`; `distrl rescore` calls `open_judge` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from distrl.config.sections import JudgeSettings
from distrl.engine.ingest.deferred_judging import DeferredJudging
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.errors import NotInstalled
from distrl.json_lines import LineLog
from distrl.judging.judge import TrajectoryJudge
from distrl.judging.judge_agreement import SecondOpinion
from distrl.judging.judge_prompt import BUILT_IN, JudgePrompt, read_examples
from distrl.judging.judge_thread_pool import JudgeThreadPool
from distrl.judging.rate_budget import BudgetSettings
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
    """A receiver; a trajectory that needs a verdict gets it on its way to the learner."""
    if not settings.later:
        return TrajectoryReceiver(store, arrivals, episode_log)
    judge = open_judge(settings, run.path / "judge_cache.jsonl", opened)
    log = opened.enter_context(LineLog.open(run.path / "judgements.jsonl"))
    judge_pool = opened.enter_context(JudgeThreadPool(judge, settings.at_once))
    verdicts = DeferredJudging(judge_pool, store, arrivals, episode_log, log.append, say)
    opened.callback(_report, run, verdicts, judge, say)
    return TrajectoryReceiver(
        store, arrivals, episode_log, verdicts=verdicts, max_unjudged=settings.max_waiting
    )


def _report(run: RunDirectory, verdicts: DeferredJudging, judge: TrajectoryJudge, say: Say) -> None:
    """Report at the end what the judge did, and what is left without a verdict."""
    say(str(verdicts.counts))
    if second := second_opinion_summary(judge):
        say(second)
    left = len(verdicts) + verdicts.counts.unavailable
    if left:
        say(
            f"{left} trajectories are stored without a verdict: "
            f"distrl rescore {run.path} --only-unjudged --server … --model …"
        )


def open_judge(settings: JudgeSettings, cache: Path, opened: ExitStack) -> TrajectoryJudge:
    """The judge, with a second one beside it where that is wanted; `opened` closes both."""
    examples = read_examples(Path(settings.examples)) if settings.examples else BUILT_IN
    prompt = JudgePrompt(examples, last_screens=settings.last_screens)
    first = _open_one(settings, settings.server, settings.model, prompt, cache, opened)
    if not settings.second_model:
        return first
    server = settings.second_server or settings.server
    second = _open_one(settings, server, settings.second_model, prompt, cache, opened)
    return SecondOpinion(first, second, settings.second_share)


def _open_one(
    settings: JudgeSettings,
    server: str,
    model: str,
    prompt: JudgePrompt,
    cache: Path,
    opened: ExitStack,
) -> TrajectoryJudge:
    try:
        from distrl.chat.chat_server import ServerSettings
        from distrl.judging.vlm_judge import KEY_VARIABLE, VlmJudge, VlmJudgeSettings
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"the package {error.name!r} is not installed; a judge on a server needs "
            "pip install 'distrl[served]'"
        ) from error
    asked = VlmJudgeSettings(
        ServerSettings(
            server,
            key_variable=KEY_VARIABLE,
            deadline_s=settings.deadline_seconds,
            tries=settings.tries,
        ),
        model,
        prompt_price=settings.prompt_price,
        answer_price=settings.answer_price,
        budget=BudgetSettings(settings.requests_per_minute, settings.burst, settings.max_cost),
    )
    return opened.enter_context(VlmJudge.open(asked, prompt, cache))


def second_opinion_summary(judge: TrajectoryJudge) -> str:
    """How often a second judge disagreed; empty where none was asked."""
    if not isinstance(judge, SecondOpinion) or not judge.opinions.total:
        return ""
    return (
        f"a second judge disagreed on {judge.opinions.disagreement:.1%} of {judge.opinions.total} "
        f"(could not be asked: {judge.missing})"
    )
