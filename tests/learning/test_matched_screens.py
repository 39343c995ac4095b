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
from distrl.replay.buffer.replay_buffer import MAX_OTHER_ATTEMPTS, ReplayBuffer
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
QUICK = replace(
    attempt([(HOME, LEFT), (SHORTCUT, RIGHT), (PAGE, DONE)], Ending.SUCCESS), id="quick"
)
GAVE_UP = replace(attempt([(HOME, RIGHT), (SHORTCUT, DONE)], Ending.FAILURE), id="gave up")
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


def test_where_others_show_the_screen_too_each_is_held_against_them() -> None:
    """Others count from their first step there, whichever of its own steps is looked at.

    Nothing is measured at the page: the only other there has succeeded.
    """
    found = measured(*ready(WON, LOST, QUICK, GAVE_UP))
    won, lost = Continuation(4, True), Continuation(4, False)
    quick, gave_up = Continuation(3, True), Continuation(2, False)
    later = {each: replace(each, steps=each.steps - 1) for each in (won, lost, quick, gave_up)}
    assert found == {
        ("won", 0): (won, gave_up, quick, lost),
        ("won", 1): (later[won], later[gave_up], later[quick], later[lost]),
        ("lost", 0): (lost, gave_up, quick, won),
        ("lost", 1): (later[lost], later[gave_up], later[quick], later[won]),
        ("lost", 2): (Continuation(2, False), later[gave_up], later[quick], later[won]),
        ("quick", 0): (quick, gave_up, lost, won),
        ("quick", 1): (later[quick], later[gave_up], later[lost], later[won]),
        ("gave up", 0): (gave_up, quick, lost, won),
        ("gave up", 1): (later[gave_up], later[quick], later[lost], later[won]),
    }


def test_the_advantage_there_is_measured_and_the_critics_elsewhere() -> None:
    """γ = 0.9: 0.729 and 0.81 from home, 0.81 and 0.9 from the shortcut, or nothing."""
    policy = new_policy()
    batch, rows = ready(WON, LOST, QUICK, GAVE_UP)
    made = ARide(GradientStep(policy), ARideSettings(discount=GAMMA, retrace_lambda=1.0))
    report = made.update(batch)
    won, lost = (report.advantages[rows[name]].tolist() for name in ("won", "lost"))
    assert won[:2] == pytest.approx([0.729 - 0.81 / 3, 0.81 - 0.9 / 3], abs=1e-5)
    assert lost[:3] == pytest.approx([-1.539 / 3, -1.71 / 3, -1.71 / 3], abs=1e-5)
    assert won[2:] == pytest.approx([0.4, 0.5], abs=0.02)  # the return less about ½
    assert lost[3] == pytest.approx(-0.5, abs=0.02)
    assert report.metrics["measured_advantages"] == pytest.approx(9 / 13)


@pytest.mark.parametrize(
    ("others", "measures"), [((LOST,), False), ((QUICK,), False), ((LOST, QUICK), True)]
)
def test_what_a_draw_is_held_against_does_not_depend_on_its_own_outcome(
    others: tuple[Trajectory, ...], measures: bool
) -> None:
    """Else it is no baseline: the expected gradient would not be that of the return."""
    found = []
    for own in (WON, GAVE_UP):
        draw = Draw(0, own, 1.0, 1, 1.0, 1.0, attempts=others)
        matched = MatchedScreens(0.0, 100).continuations([draw])
        found.append([(each.column, each.others) for each in matched if each.column < 2])
    assert found[0] == found[1]
    assert bool(found[0]) is measures


def test_attempts_at_other_tasks_measure_nothing() -> None:
    elsewhere = replace(LOST, id="elsewhere", task=replace(WORLD.tasks[0], id="another/train/0"))
    assert ready(WON, QUICK, elsewhere)[0].continuations == ()


def test_forks_go_first_and_share_no_beginning_with_anybody() -> None:
    """The fork's first step is its parent's, and no attempt of its own at being there."""
    short = attempt([(HOME, LEFT), (SHORTCUT, RIGHT), (SHORTCUT, DONE)], Ending.FAILURE)
    fork = replace(short, id="won/fork/1", branch=Branch("won", 1))
    found = measured(*ready(WON, fork, LOST, QUICK))
    won, lost = Continuation(3, True), Continuation(3, False)
    forked, quick = Continuation(2, False), Continuation(2, True)
    assert found["won", 0] == (  # not the fork
        Continuation(4, True), Continuation(3, True), Continuation(4, False)
    )  # fmt: skip
    assert found["won", 1] == (won, forked)  # none of those that only showed the same
    assert ("lost", 0) not in found  # all others that were there have succeeded
    assert found["lost", 1] == (lost, quick, forked, won)


def test_a_clock_in_the_status_bar_keeps_nobody_apart() -> None:
    def at(minute: int, trajectory: Trajectory) -> Trajectory:
        drawn = []
        for screen in trajectory.screens:
            pixels = np.full((60, 4, 3), screen.pixels[0, 0, 0], np.uint8)
            pixels[0] = minute
            drawn.append(compress(Screen(pixels)))
        return replace(trajectory, screens=tuple(drawn))

    def matches(status_bar: float) -> int:
        draw = Draw(0, at(1, WON), 1.0, 1, 1.0, 1.0, attempts=(at(2, LOST), at(3, QUICK)))
        return len(MatchedScreens(status_bar, 100).continuations([draw]))

    assert matches(1 / 30) == 2
    assert matches(0.0) == 0


def test_the_newest_attempts_come_along_and_a_screen_is_unpacked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replay = ReplayBuffer()
    for number in range(MAX_OTHER_ATTEMPTS + 3):
        replay.insert(replace(LOST, id=f"lost-{number}"))
    replay.insert(QUICK)
    replay.insert(WON)
    [draw] = replay.with_attempts(
        [d for d in replay.sample(500, np.random.default_rng(0)) if d.trajectory.id == "won"][:1]
    )
    newest = ["quick", *(f"lost-{n}" for n in range(MAX_OTHER_ATTEMPTS + 2, 3, -1))]
    assert [each.id for each in draw.attempts] == newest
    unpacked: list[Screen] = []

    def below(screen: Screen, status_bar: float) -> bytes:
        unpacked.append(screen)
        return screen.pixels.tobytes()

    monkeypatch.setattr("distrl.learning.matched_screens.below_status_bar", below)
    matched = MatchedScreens(0.0, 100)
    assert len(matched.continuations([draw])) == 2
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
