"""Attempts at one task that came by the same screen: who is matched with whom, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.small_world import CORNER, DETOUR, HOME, PAGE, REWARDS, SHORTCUT, new_policy
from tests.learning.algorithms.algorithm_checks import (
    BACK,
    DONE,
    LEFT,
    RIGHT,
    WORLD,
    attempt,
)
from tests.learning.small_circle import SmallCircle

from distrl.config.training_config import load_config
from distrl.errors import InvalidSetting
from distrl.learning.algorithms.a_ride import ARide, ARideSettings
from distrl.learning.batch import Batch
from distrl.learning.batch_builder import BatchBuilder
from distrl.learning.gradient_step import GradientStep
from distrl.learning.learner_report import LearnerReport
from distrl.learning.matched_screens import MatchedScreens
from distrl.learning.targets.advantages import Continuation
from distrl.records import Branch, Ending, Screen, Trajectory
from distrl.replay.buffer.entries import Draw
from distrl.replay.buffer.replay_buffer import BESIDE, ReplayBuffer
from distrl.replay.compressed_screen import compress

GAMMA = 0.9
WON = replace(
    attempt([(HOME, LEFT), (SHORTCUT, LEFT), (CORNER, RIGHT), (PAGE, DONE)], Ending.SUCCESS),
    id="won",
)
LOST = replace(  # it comes by the shortcut twice
    attempt([(HOME, RIGHT), (SHORTCUT, BACK), (SHORTCUT, BACK), (DETOUR, DONE)], Ending.FAILURE),
    id="lost",
)
BARE = replace(REWARDS, status_bar=0.0)  # screens of this world have no room for one


def ready(*trajectories: Trajectory) -> tuple[Batch, dict[str, int]]:
    """A batch with each of them once, matched, and their rows."""
    replay = ReplayBuffer()
    for each in trajectories:
        assert replay.insert(each).held
    draws = {d.slot_id: d for d in replay.sample(200, np.random.default_rng(0))}
    batch = BatchBuilder(BARE, 8).ready(replay.with_attempts(list(draws.values()))).batch
    return batch, {each.id: row for row, each in enumerate(batch.trajectories)}


def measured(batch: Batch, rows: Mapping[str, int]) -> dict[tuple[str, int], tuple[object, ...]]:
    """By trajectory and step: what came of it, and of the others."""
    names = {row: name for name, row in rows.items()}
    return {(names[c.row], c.column): (c.own, *c.others) for c in batch.continuations}


def test_where_two_attempts_show_one_screen_each_is_held_against_the_other() -> None:
    """The other counts from its first step there, whichever of its own steps is looked at."""
    found = measured(*ready(WON, LOST))
    assert found == {
        ("won", 0): (Continuation(4, True), Continuation(4, False)),
        ("won", 1): (Continuation(3, True), Continuation(3, False)),
        ("lost", 0): (Continuation(4, False), Continuation(4, True)),
        ("lost", 1): (Continuation(3, False), Continuation(3, True)),
        ("lost", 2): (Continuation(2, False), Continuation(3, True)),
    }


def test_the_advantage_there_is_measured_and_the_critics_elsewhere() -> None:
    """γ = 0.9: 0.729 from home and 0.81 from the shortcut, for nothing on the other side."""
    policy = new_policy()
    batch, rows = ready(WON, LOST)
    made = ARide(GradientStep(policy), ARideSettings(discount=GAMMA, retrace_lambda=1.0))
    report = made.update(batch)
    won, lost = (report.advantages[rows[name]].tolist() for name in ("won", "lost"))
    assert won[:2] == pytest.approx([0.729, 0.81], abs=1e-5)
    assert lost[:3] == pytest.approx([-0.729, -0.81, -0.81], abs=1e-5)
    assert won[2:] == pytest.approx([0.4, 0.5], abs=0.02)  # the return less about ½
    assert lost[3] == pytest.approx(-0.5, abs=0.02)
    assert report.metrics["measured_advantages"] == pytest.approx(5 / 8)


def test_attempts_with_one_outcome_or_at_other_tasks_measure_nothing() -> None:
    again = replace(WON, id="again")
    elsewhere = replace(LOST, id="elsewhere", task=replace(WORLD.tasks[0], id="another/train/0"))
    assert ready(WON, again, elsewhere)[0].continuations == ()
    assert ready(LOST, replace(LOST, id="too"))[0].continuations == ()


def test_forks_go_first_and_share_no_beginning_with_anybody() -> None:
    """The fork's first step is its parent's, and no attempt of its own at being there."""
    short = attempt([(HOME, LEFT), (SHORTCUT, RIGHT), (SHORTCUT, DONE)], Ending.FAILURE)
    fork = replace(short, id="won/fork/1", branch=Branch("won", 1))
    found = measured(*ready(WON, fork, LOST))
    won, lost = Continuation(3, True), Continuation(3, False)
    forked = Continuation(2, False)
    assert found["won", 0] == (Continuation(4, True), Continuation(4, False))  # LOST alone
    assert found["won", 1] == (won, forked)  # not LOST, which only showed the same
    assert found["lost", 0] == (Continuation(4, False), Continuation(4, True))
    assert found["lost", 1] == (lost, forked, won)


def test_a_clock_in_the_status_bar_keeps_nobody_apart() -> None:
    def at(minute: int, trajectory: Trajectory) -> Trajectory:
        drawn = []
        for screen in trajectory.screens:
            pixels = np.full((60, 4, 3), screen.pixels[0, 0, 0], np.uint8)
            pixels[0] = minute
            drawn.append(compress(Screen(pixels)))
        return replace(trajectory, screens=tuple(drawn))

    def matches(status_bar: float) -> int:
        draw = Draw(0, at(1, WON), 1.0, 1, 1.0, 1.0, attempts=(at(2, LOST),))
        return len(MatchedScreens(status_bar, 100).continuations([draw]))

    assert matches(1 / 30) == 2
    assert matches(0.0) == 0


def test_the_newest_attempts_come_along_and_a_screen_is_unpacked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replay = ReplayBuffer()
    for number in range(BESIDE + 3):
        replay.insert(replace(LOST, id=f"lost-{number}"))
    replay.insert(WON)
    [draw] = replay.with_attempts(
        [d for d in replay.sample(500, np.random.default_rng(0)) if d.trajectory.id == "won"][:1]
    )
    assert [each.id for each in draw.attempts] == [f"lost-{n}" for n in range(BESIDE + 2, 2, -1)]
    unpacked: list[Screen] = []

    def below(screen: Screen, status_bar: float) -> bytes:
        unpacked.append(screen)
        return screen.pixels.tobytes()

    monkeypatch.setattr("distrl.learning.matched_screens.below_status_bar", below)
    matched = MatchedScreens(0.0, 100)
    assert matched.continuations([draw]) == matched.continuations([draw])
    assert len(unpacked) == len({HOME, SHORTCUT, CORNER, PAGE, DETOUR})
    forgetful = MatchedScreens(0.0, 1)
    assert forgetful.continuations([draw]) == matched.continuations([draw])


@pytest.mark.parametrize("on", [True, False])
def test_a_learner_matches_where_it_is_told_to(on: bool) -> None:
    circle = SmallCircle(matched_screens=on, rewards=BARE, batch_trajectories=16)
    circle.collect("c", 40)
    report = circle.learner.step()
    assert isinstance(report, LearnerReport)
    assert (report.algorithm["measured_advantages"] > 0.0) == on


@pytest.mark.parametrize("algorithm", ["grpo", "digirl"])
def test_who_would_not_read_them_is_refused(algorithm: str) -> None:
    words = ("learning.learner.matched_screens=true", f"learning.algorithm={algorithm}")
    with pytest.raises(InvalidSetting, match="would not read them: give a_ride or vtrace"):
        load_config(None, words)
    assert load_config(None, words[:1]).learning.learner.matched_screens
