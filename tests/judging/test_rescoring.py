"""Stored trajectories get new verdicts, which outlive everything and come back into training."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from tests.chat.chat_protocol import Asked, Log, Reply, completion, serving, texts_in
from tests.judging.judge_server import NO, YES, played
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.cli.rescore import rescore_run
from distrl.config.sections import JudgeSettings
from distrl.config.training_config import TrainingConfig
from distrl.engine.run.resume import corpus
from distrl.errors import DirectoryInUse, UsageError
from distrl.json_lines import read_lines
from distrl.judging.judge import JudgeRecord
from distrl.judging.rescoring import RescoreCounts
from distrl.records import Ending, Trajectory, Verdict
from distrl.replay.buffer.entries import Outcome
from distrl.replay.buffer.replay_buffer import ReplayBuffer
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.runs.run_directory import RunDirectory

GOOD = ("done", "claimed", "unseen")  # what the judge of these tests calls a success


def judged_before(name: str, *, success: bool) -> Trajectory:
    ending = Ending.SUCCESS if success else Ending.FAILURE
    episode = played(name, ending=ending, instruction=f"Do {name}")
    return dataclasses.replace(episode, verdict=Verdict(success, "", "facts"))


EPISODES = (
    judged_before("done", success=True),
    judged_before("claimed", success=False),  # the judge will say otherwise
    judged_before("missed", success=True),  # here as well
    judged_before("failed", success=False),
    played("unseen", ending=Ending.JUDGE_UNAVAILABLE, instruction="Do unseen"),
    played("waiting", ending=Ending.AWAITING_VERDICT, instruction="Do waiting"),
    played("lost", ending=Ending.DEVICE_LOST, instruction="Do lost"),
)


def answer(asked: Asked) -> bytes:
    name = texts_in(asked)[0].splitlines()[0].rstrip('"').split()[-1]
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return completion(f"Verdict: {'success' if name in GOOD else 'failure'}", usage=usage)


def run_with(folder: Path, *episodes: Trajectory) -> RunDirectory:
    run = RunDirectory.new(folder, "test", datetime(2026, 1, 5, tzinfo=UTC))
    run.write_config(TrainingConfig())
    with TrajectoryStore(run.trajectories) as store:
        store.append_all(episodes)
    return run


def rescored(
    run: RunDirectory, *replies: Reply, second_model: str = "", **words: bool
) -> tuple[RescoreCounts, Log]:
    with serving(*replies) as (url, log):
        judge = JudgeSettings(
            "vlm", url, "judge", prompt_price=1.0, second_model=second_model, second_share=1.0
        )
        return rescore_run(Console(quiet=True), run.path, judge, **words), log


def endings(run: RunDirectory) -> dict[str, Ending]:
    return {each.id: each.ending for each in corpus(str(run.path))}


def test_new_verdicts_are_kept_and_come_back_into_training(tmp_path: Path) -> None:
    run = run_with(tmp_path, *EPISODES)
    counts, log = rescored(run, Reply(answer))
    assert endings(run) == {
        "done": Ending.SUCCESS,
        "claimed": Ending.SUCCESS,
        "missed": Ending.FAILURE,
        "failed": Ending.FAILURE,
        "unseen": Ending.SUCCESS,
        "waiting": Ending.FAILURE,
        "lost": Ending.DEVICE_LOST,
    }
    assert (counts.looked_at, counts.passed_over, counts.undecided) == (6, 1, 0)
    assert (counts.newly_judged, counts.to_success, counts.to_failure) == (2, 1, 1)
    assert counts.agreement.disagreement == 0.5
    assert counts.cost == pytest.approx(6 * 100 / 1e6)
    assert len(log.completions) == 6
    outcomes = {each.id: ReplayBuffer().insert(each).outcome for each in corpus(str(run.path))}
    assert outcomes.pop("lost") is Outcome.NOT_JUDGED
    assert set(outcomes.values()) == {Outcome.STORED}
    records = read_lines(run.path / "judgements.jsonl", JudgeRecord)
    assert {each.trajectory for each in records} == set(endings(run)) - {"lost"}
    assert all(each.judge.startswith("vlm/judge/") for each in records)


def test_a_resumed_learner_hears_of_what_was_judged_since(tmp_path: Path) -> None:
    run = run_with(tmp_path, *EPISODES)
    with TrajectoryStore(run.trajectories) as store:
        taken = store.position  # how far a checkpoint says that the learner has read
    rescored(run, Reply(answer))
    with TrajectoryStore(run.trajectories) as store:
        arrived = {each.trajectory.id for each in store.read(after=taken)}
    assert arrived == {"claimed", "missed", "unseen", "waiting"}


def test_only_what_has_no_verdict_if_that_is_wanted(tmp_path: Path) -> None:
    run = run_with(tmp_path, *EPISODES)
    counts, log = rescored(run, Reply(answer), only_unjudged=True)
    assert (counts.looked_at, counts.newly_judged, len(log.completions)) == (2, 2, 2)
    assert endings(run)["missed"] is Ending.SUCCESS


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    run = run_with(tmp_path, *EPISODES)
    before = endings(run)
    counts, _ = rescored(run, Reply(answer), dry_run=True)
    assert counts.corrected == 4
    assert endings(run) == before


def test_it_is_asked_once_and_another_time_from_the_cache(tmp_path: Path) -> None:
    run = run_with(tmp_path, *EPISODES)
    rescored(run, Reply(answer))
    counts, log = rescored(run, Reply(answer))
    assert (counts.cached, counts.corrected, len(log.completions)) == (6, 0, 0)


def test_what_the_judge_cannot_decide_stays_as_it_was(tmp_path: Path) -> None:
    run = run_with(tmp_path, *EPISODES)
    before = endings(run)
    counts, _ = rescored(run, Reply(b"no", status=403))
    assert (counts.undecided, counts.corrected) == (6, 0)
    assert endings(run) == before


def test_a_second_model_is_asked_as_well(tmp_path: Path) -> None:
    run = run_with(tmp_path, *EPISODES)

    def both(asked: Asked) -> bytes:
        first, second = YES.body, NO.body
        assert isinstance(first, bytes)
        assert isinstance(second, bytes)
        return first if asked["model"] == "judge" else second

    counts, log = rescored(run, Reply(both), second_model="other")
    assert len(log.completions) == 12
    assert counts.to_success == 2
    lines = (run.path / "judgements.jsonl").read_text().splitlines()
    assert {json.loads(line)["second_success"] for line in lines} == {False}


def test_a_run_that_goes_on_is_left_alone(tmp_path: Path) -> None:
    run = run_with(tmp_path, *EPISODES)
    with run.held(), pytest.raises(DirectoryInUse):
        rescored(run, Reply(answer))
    with pytest.raises(UsageError, match="no run directory"):
        rescored(RunDirectory(tmp_path), Reply(answer))


def test_the_command_says_what_came_of_it(tmp_path: Path) -> None:
    run = run_with(tmp_path, *EPISODES)
    with serving(Reply(answer)) as (url, _):
        words = ["rescore", str(run.path), "--server", url, "--model", "judge"]
        done = CliRunner().invoke(app, words, env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.output
    assert "4 corrected: 2 had no verdict before, 1 became successes, 1 failures" in done.output
    assert "learning.corpus" in done.output
