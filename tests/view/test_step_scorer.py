"""A step under other weights: as the policy itself scores it, and only by weights that are kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from tests.view.scored_run import write_scored_run

from distrl.errors import ProcessError, UsageError
from distrl.runs.run_directory import RunDirectory
from distrl.view.kept_weights import RunPolicy, kept_weights
from distrl.view.step_scorer import (
    HUNG_SECONDS,
    NICE,
    StepQuestion,
    StepScorer,
    score_step,
    seen_before,
)
from distrl.view.xray import EpisodeFiles


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return write_scored_run(tmp_path_factory.mktemp("scored"))


def test_all_kept_weights_are_listed(run: RunDirectory, tmp_path: Path) -> None:
    assert [each.key for each in kept_weights(run)] == ["start", "v1", "v2"]
    assert kept_weights(RunDirectory(tmp_path)) == []


def test_a_step_is_scored_as_the_policy_scores_it(run: RunDirectory) -> None:
    opened = RunPolicy(run)
    first = score_step(opened, StepQuestion(run.path, "v1", 1, 0))
    trajectory = EpisodeFiles(run).trajectory(1)
    drawn = trajectory.decisions[0]
    assert [p for _, p, _ in first["tokens"]] == pytest.approx(
        [round(float(torch.tensor(p).exp()), 5) for p in drawn.log_probs], abs=1e-4
    )
    for _, own, others in first["tokens"]:
        shares = [p for _, p in others]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] >= own
    assert 0.0 <= first["value"] <= 1.0
    start = score_step(opened, StepQuestion(run.path, "start", 1, 0))
    assert start["tokens"] == first["tokens"]  # published as it was
    learned = score_step(opened, StepQuestion(run.path, "v2", 1, 0))
    assert learned["version"] == 2
    assert learned["tokens"] != first["tokens"]


def test_a_policy_is_shown_what_was_seen(run: RunDirectory) -> None:
    trajectory = EpisodeFiles(run).trajectory(1)
    seen = seen_before(trajectory, 1)
    assert seen.past_actions == (trajectory.decisions[0].action,)
    assert seen.screen.address == trajectory.screens[1].address
    assert len(seen.past_screens) == 1


@pytest.mark.parametrize(("key", "seq", "step"), [("v7", 1, 0), ("start", 9, 0), ("start", 1, 99)])
def test_what_is_gone_is_said_to_be(run: RunDirectory, key: str, seq: int, step: int) -> None:
    with pytest.raises(LookupError, match=r"not kept|no episode|has \d+ steps"):
        score_step(RunPolicy(run), StepQuestion(run.path, key, seq, step))


def test_a_model_that_is_too_large_is_not_loaded(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distrl.view.kept_weights.MAX_MODEL_BYTES", 10)
    with pytest.raises(UsageError, match="distrl play"):
        RunPolicy(run)


@pytest.mark.slow
def test_another_process_answers_and_a_dead_one_is_replaced(run: RunDirectory) -> None:
    scorer, question = StepScorer(), StepQuestion(run.path, "v2", 1, 0)
    try:
        answer = scorer.ask(question)
        assert answer == score_step(RunPolicy(run), question)
        with pytest.raises(LookupError, match="not kept"):
            scorer.ask(StepQuestion(run.path, "v7", 1, 0))
        assert scorer._process is not None
        scorer._process.kill()
        scorer._process.join()
        assert scorer.ask(question) == answer
        missing = StepQuestion(run.path.parent, "start", 1, 0)
        with pytest.raises(ProcessError, match="config"):
            scorer.ask(missing)
    finally:
        scorer.close()


@pytest.mark.slow
def test_whoever_asks_too_early_is_answered_later(run: RunDirectory) -> None:
    """Loading takes seconds; the process is not begun anew because nobody waited for it."""
    scorer, question = StepScorer(patience=0.0), StepQuestion(run.path, "v2", 1, 0)
    try:
        with pytest.raises(ProcessError, match="ask again"):
            scorer.ask(question)
        first = scorer._process
        assert first is not None
        scorer._patience = 300.0
        with pytest.raises(LookupError, match="not kept"):  # the answer to this one
            scorer.ask(StepQuestion(run.path, "v7", 1, 0))
        assert scorer._process is first
        assert os.getpriority(os.PRIO_PROCESS, first.pid or 0) == max(NICE, os.nice(0))
    finally:
        scorer.close()


def test_a_process_that_never_answers_is_replaced(run: RunDirectory) -> None:
    now = [0.0]
    scorer = StepScorer(patience=0.0, clock=lambda: now[0])
    try:
        for seconds in (1.0, HUNG_SECONDS + 2.0):
            with pytest.raises(ProcessError, match="ask again"):
                scorer.ask(StepQuestion(run.path, "v2", 1, 0))
            assert scorer._process is not None
            now[0] = seconds
        first = scorer._process
        assert first is not None
        with pytest.raises(ProcessError, match=r"was ended; ask again to start another"):
            scorer.ask(StepQuestion(run.path, "v2", 1, 0))
        assert not first.is_alive()
    finally:
        scorer.close()
