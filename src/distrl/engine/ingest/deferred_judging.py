"""Judges trajectories after their episode has ended: from the store to a judge, and back.

    receiver ─► store ─► submit ─► (threads ask the judge) ─► take_off ─► store ─► learner

A verdict is stored as a correction, durable before the learner gets the trajectory. If no verdict
can be obtained, the ending says so (`JUDGE_UNAVAILABLE`) and the learner does not train on it; the
trajectory stays in the store without a verdict, for `distrl rescore`. Trajectories that are not yet
judged when a run ends or its process dies are in the store as well, and `resume.recall` submits
them again. A correction that cannot be written to the disk is retried.

The receiver calls it, one thread at a time. The engines open both with `open_receiver`, according
to the judge settings; `distrl rescore` calls `open_judge` alone.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from distrl import plugins
from distrl.config.sections import JudgeSettings
from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.errors import JudgeError, NotInstalled, StorageError
from distrl.json_lines import LineLog
from distrl.judging.judge import (
    FunctionJudge,
    Judgement,
    JudgeRecord,
    TrajectoryJudge,
    record_of,
)
from distrl.judging.judge_agreement import SecondOpinion
from distrl.judging.judge_prompt import BUILT_IN, JudgePrompt, read_examples
from distrl.judging.judge_thread_pool import Judged, JudgeThreadPool
from distrl.judging.rate_budget import BudgetSettings
from distrl.records import Trajectory
from distrl.replay.store.trajectory_database import Correction
from distrl.replay.store.trajectory_reader import StoredTrajectory
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory

if TYPE_CHECKING:
    from distrl.chat.chat_server import ServerSettings

Say = Callable[[str], None]


@dataclass(slots=True)
class VerdictCounts:
    """Verdicts, failures and costs so far."""

    verdicts: int = 0
    unavailable: int = 0
    cached: int = 0
    cost: float = 0.0
    seconds: float = 0.0  # that the judge took, over all requests

    def __str__(self) -> str:
        return (
            f"judge: {self.verdicts} verdicts ({self.cached} from the cache), {self.unavailable} "
            f"could not be had; cost {self.cost:.4g}, {self.seconds:.1f} s of its time"
        )


@dataclass(slots=True)
class DeferredJudging:
    """Has stored trajectories judged, then passes them on to the learner."""

    judge_pool: JudgeThreadPool
    store: TrajectoryStore
    arrivals: ArrivalQueue
    episode_log: EpisodeLog
    note: Callable[[JudgeRecord], None]
    say: Callable[[str], None] = lambda sentence: None
    counts: VerdictCounts = field(default_factory=VerdictCounts)
    _failing: bool = False  # whether the last verdict could not be obtained
    _places: dict[str, int] = field(default_factory=dict)  # id -> place in the order of submission
    _submitted: int = 0
    _judged: deque[Judged] = field(default_factory=deque)  # and not yet written to the store

    def __len__(self) -> int:
        """Return how many wait for a verdict, or for it to be written to the store."""
        return len(self._places)

    def submit(self, trajectory: Trajectory) -> None:
        """Queue a stored trajectory for the judge. Never waits."""
        self._places[trajectory.id] = self._submitted
        self._submitted += 1
        self.judge_pool.submit(trajectory)

    def take_off(self) -> None:
        """Store the verdicts that have come, and pass their trajectories on. Never waits."""
        self._judged.extend(self.judge_pool.drain())
        try:
            while self._judged:
                self._keep(self._judged[0])
                self._judged.popleft()
        except StorageError:
            self.episode_log.faults["not_stored"] += 1

    def settle(self, seconds: float) -> bool:
        """Wait up to `seconds` for all verdicts and store them in the order of submission.

        Return whether none is left. Nothing is stored before the last has come, so that runs in
        one process do not depend on which trajectory is judged first.
        """
        end = time.monotonic() + seconds
        while len(self.judge_pool):
            self.judge_pool.wait(max(0.0, end - time.monotonic()))
            self._judged.extend(self.judge_pool.drain())
            if len(self.judge_pool) and time.monotonic() >= end:
                return False
        ordered = sorted(self._judged, key=lambda each: self._places[each.trajectory.id])
        self._judged = deque(ordered)
        self.take_off()
        return not len(self)

    def _keep(self, judged: Judged) -> None:
        trajectory, judgement = judged.trajectory, judged.judgement
        if judgement is not None:
            self.store.correct(trajectory.id, Correction(trajectory.ending, judgement.verdict))
        self._places.pop(trajectory.id, None)
        self.episode_log.judged(trajectory)
        self.arrivals.put(StoredTrajectory(trajectory, self.store.position))
        if judgement is None:
            self.counts.unavailable += 1
            if not self._failing:  # say so once each time that the judge becomes unavailable
                self.say(f"no verdict could be had: {trajectory.notes[-1]}")
            self._failing = True
            return
        self._failing = False
        self.counts.verdicts += 1
        self.counts.cached += judgement.cached
        self.counts.cost += judgement.cost
        self.counts.seconds += judgement.seconds
        try:
            self.note(record_of(trajectory, judgement))
        except StorageError:  # the verdict is stored; only its line in the log is lost
            self.episode_log.faults["not_stored"] += 1


@dataclass(frozen=True, slots=True)
class EnvironmentJudge:
    """Implements `TrajectoryJudge`: passes each trajectory to the judge of its environment."""

    judges: Mapping[str, TrajectoryJudge]

    def judge(self, trajectory: Trajectory) -> Judgement:
        found = self.judges.get(trajectory.environment)
        if found is None:
            raise JudgeError(
                f"no judge for trajectory {trajectory.id} of the environment "
                f"{trajectory.environment!r}; there are those of {', '.join(self.judges)}"
            )
        return found.judge(trajectory)


def open_receiver(
    config: TrainingConfig,
    run: RunDirectory,
    store: TrajectoryStore,
    arrivals: ArrivalQueue,
    episode_log: EpisodeLog,
    say: Say,
    opened: ExitStack,
) -> TrajectoryReceiver:
    """Open a receiver; trajectories that need a verdict get it on their way to the learner."""
    limit = config.run.trajectories
    later = {n: e.judge for n, e in config.by_environment().items() if e.judge.later}
    if not later:
        return TrajectoryReceiver(store, arrivals, episode_log, limit=limit)
    judges = {name: open_judge(each, run.judge_cache, opened) for name, each in later.items()}
    log = opened.enter_context(LineLog.open(run.path / "judgements.jsonl"))
    at_once = sum(each.at_once for each in later.values())
    judge_pool = opened.enter_context(JudgeThreadPool(EnvironmentJudge(judges), at_once))
    verdicts = DeferredJudging(judge_pool, store, arrivals, episode_log, log.append, say)
    opened.callback(_report, run, verdicts, list(judges.values()), say)
    return TrajectoryReceiver(
        store,
        arrivals,
        episode_log,
        verdicts=verdicts,
        max_unjudged=sum(each.max_waiting for each in later.values()),
        limit=limit,
    )


def _report(
    run: RunDirectory, verdicts: DeferredJudging, judges: Sequence[TrajectoryJudge], say: Say
) -> None:
    """Report at the end what the judges did, and what is left without a verdict."""
    say(str(verdicts.counts))
    for second in filter(None, map(second_opinion_summary, judges)):
        say(second)
    left = len(verdicts) + verdicts.counts.unavailable
    if left:
        say(
            f"{left} trajectories are stored without a verdict: "
            f"distrl rescore {run.path} --only-unjudged --server … --model …"
        )


def open_judge(settings: JudgeSettings, cache: Path, opened: ExitStack) -> TrajectoryJudge:
    """Open the judge, and a second one if the settings name it; `opened` closes both."""
    if settings.is_registered:
        return FunctionJudge(settings.kind, plugins.find("judge", settings.kind))
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
    where = judge_server(settings, server)
    from distrl.judging.vlm_judge import VlmJudge, VlmJudgeSettings

    asked = VlmJudgeSettings(
        where,
        model,
        prompt_price=settings.prompt_price,
        answer_price=settings.answer_price,
        budget=BudgetSettings(settings.requests_per_minute, settings.burst, settings.max_cost),
    )
    return opened.enter_context(VlmJudge.open(asked, prompt, cache))


def judge_server(settings: JudgeSettings, url: str) -> ServerSettings:
    """Return how to reach a judge's server; raise `NotInstalled` without the packages for it."""
    try:
        from distrl.chat.chat_server import ServerSettings
        from distrl.judging.vlm_judge import KEY_VARIABLE
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"the package {error.name!r} is not installed; a judge on a server needs "
            "pip install 'distrl[served]'"
        ) from error
    deadline = settings.deadline_seconds
    return ServerSettings(url, KEY_VARIABLE, deadline_s=deadline, tries=settings.tries)


def second_opinion_summary(judge: TrajectoryJudge) -> str:
    """Say how often a second judge disagreed; empty if none was asked."""
    if not isinstance(judge, SecondOpinion) or not judge.opinions.total:
        return ""
    return (
        f"a second judge disagreed on {judge.opinions.disagreement:.1%} of {judge.opinions.total} "
        f"(could not be asked: {judge.missing})"
    )
