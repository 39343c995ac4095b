"""Valid records from which the fuzzer's mutations start."""

from __future__ import annotations

import numpy as np

from distrl.agent.dialects.dialect import ImageSize
from distrl.engine.ingest.messages import Heartbeat
from distrl.engine.run.losses import LearnerHome
from distrl.episodes.collector_report import CollectorReport, FinishedEpisode
from distrl.episodes.policy_batcher import PolicyBatcherReport
from distrl.records import (
    Action,
    Answer,
    Back,
    Decision,
    Done,
    Ending,
    OpenApp,
    Screen,
    Swipe,
    Tap,
    Task,
    Trajectory,
    TypeText,
    Verdict,
)
from distrl.runs.run_progress import RunProgress
from distrl.runs.run_records import (
    EpisodeLine,
    EvaluationLine,
    Loss,
    Point,
    RecordedStep,
    Recording,
    TemplateCount,
)

IMAGE = ImageSize(540, 960)
TASK = Task("made.up/train/1", "Do it", "general", "made.up", "train", 1, (), "easy", 10)
ACTIONS: tuple[Action, ...] = (
    Tap(0.25, 0.5), Swipe(0.5, 0.8, 0.5, 0.2), TypeText("two words, “quoted”"), OpenApp("Clock"),
    Back(), Answer("42"), Done(),
)  # fmt: skip
LINES: dict[str, object] = {
    "metrics.jsonl": Point("learner", 3, 1.5, {"loss/policy": 0.5, "entropy": None}),
    "episodes.jsonl": EpisodeLine(
        "c/1", TASK.id, TASK.template, Ending.SUCCESS, 3, 1, 0, "phone-0", 0.5, 1.5
    ),
    "evaluations.jsonl": EvaluationLine(
        "after", "test", 3, 2, 9.0, (TemplateCount("made.up", 1, 2),)
    ),
    "recordings.jsonl": Recording(
        "c/1", "after", "made.up", "Do it", Ending.FAILURE, "no", 3, 2,
        (RecordedStep("0.webp", "tap", 0.5, 1.0, None),),
    ),
    "losses.jsonl": Loss("file", "metrics.jsonl", "is gone"),
    "progress.json": RunProgress("update-000000003.000", 4, {"metrics.jsonl": 100}),
    "learner.json": LearnerHome("node-1", "10.0.0.1"),
}  # fmt: skip


def made_up_trajectory() -> Trajectory:
    rng = np.random.default_rng(0)
    screens = tuple(
        Screen(rng.integers(0, 256, (12, 8, 3), dtype=np.uint8)) for _ in range(len(ACTIONS) + 1)
    )
    decisions = tuple(Decision(each, "text", (1, 2), (-0.5, -0.25), 3) for each in ACTIONS)
    verdict = Verdict(True, "it is done", "facts")
    return Trajectory("c/1", TASK, decisions, screens, Ending.SUCCESS, verdict, 1.0, ("a note",))


def made_up_heartbeat() -> Heartbeat:
    report = CollectorReport(
        name="collector-0.1", seconds=10.0, slots=2, in_flight=1, started=3,
        endings={"success": 2}, resent=0, failed_starts={"DeviceTimeout": 1}, retried=1,
        given_up=0, abandoned=0, quarantines=0, quarantined=("phone-1",), stuck=(),
        busy={"phone-0": 5.0}, stages={"decide": 1.5},
        batcher=PolicyBatcherReport(5, {1: 2, 4: 3}, 1, 7, 0.5, 0.25, "digest"),
    )  # fmt: skip
    return Heartbeat(report, (FinishedEpisode("c/1", "phone-0", 100.0, 130.0),), "{}")
