"""What enters the replay, what leaves it, and how it keeps its bounds."""

from __future__ import annotations

import gc
import math
import pickle
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.replay.made_up_replays import check_accounts, filled, held
from tests.replay.made_up_trajectories import trajectory

from distrl.episodes.demonstrations import demonstrate
from distrl.records import Decision, Ending, Tap
from distrl.replay.buffer.entries import Outcome
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings
from distrl.replay.compressed_screen import CompressedScreen
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task


def test_a_real_trajectory_comes_back_as_it_went_in() -> None:
    episode = demonstrate(load_task("notes.create/train/3")[0], SimulatedDevice("x"))
    replay = ReplayBuffer()
    receipt = replay.insert(episode)
    assert receipt.held
    [draw] = replay.sample(1, np.random.default_rng(0))
    assert draw.slot_id == receipt.slot_id
    assert (draw.probability, draw.priority, draw.times_drawn, draw.weight) == (1.0, 1.0, 1, 1.0)
    assert replace(draw.trajectory, screens=episode.screens) == episode
    for before, after in zip(episode.screens, draw.trajectory.screens, strict=True):
        assert isinstance(after, CompressedScreen)
        assert np.array_equal(before.pixels, after.pixels)
    raw = sum(s.pixels.nbytes for s in episode.screens)
    assert replay.nbytes < raw / 4


def test_newcomers_get_the_highest_priority_that_is_in() -> None:
    replay = filled(2, capacity=3)
    replay.update_priorities([0, 1], [9.0, 0.5])
    replay.insert(trajectory("2"))
    assert replay.state_dict()["priorities"].tolist() == [9.0, 0.5, 9.0]
    replay.update_priorities([0, 2], [0.25, 0.125])
    replay.insert(trajectory("3"))  # 0 leaves; 0.5 is the highest now, not the 9 of earlier
    assert replay.state_dict()["priorities"].tolist() == [0.5, 0.125, 0.5]


def test_a_resend_is_harmless_and_reported() -> None:
    replay = filled(3)
    replay.update_priorities([1], [7.0])
    before, size = replay.state_dict(), replay.nbytes
    receipt = replay.insert(trajectory("1", screens=(5, 6, 7)))
    assert (receipt.outcome, receipt.slot_id, receipt.held) == (Outcome.RESENT, 1, True)
    after = replay.state_dict()
    assert after["counts"].pop("resent") == 1 + before["counts"].pop("resent")
    np.testing.assert_equal(after, before)
    assert (len(replay), replay.nbytes) == (3, size)


@pytest.mark.parametrize("ending", list(Ending))
def test_only_judged_trajectories_enter(ending: Ending) -> None:
    replay = ReplayBuffer()
    receipt = replay.insert(trajectory("x", ending=ending))
    faults = (Ending.APP_CRASH, Ending.DEVICE_LOST, Ending.JUDGE_UNAVAILABLE)
    unjudged = (*faults, Ending.AWAITING_VERDICT, Ending.DRY_RUN)
    expected = Outcome.NOT_JUDGED if ending in unjudged else Outcome.STORED
    assert receipt.outcome is expected
    assert len(replay) == ("x" in replay) == receipt.held == (ending not in unjudged)
    assert replay.gauges()["refused"] == (ending in unjudged)
    assert replay.gauges()["inserted"] == (ending not in unjudged)


def test_an_ending_without_a_verdict_is_not_judged() -> None:
    """It has no reward, so every batch that it is drawn into would be an error."""
    replay = ReplayBuffer()
    receipt = replay.insert(replace(trajectory("x", ending=Ending.STEP_LIMIT), verdict=None))
    assert (receipt.outcome, len(replay)) == (Outcome.NOT_JUDGED, 0)


@pytest.mark.parametrize(
    "log_probs",
    [(-0.5,), (-0.5, -0.5, -0.5), (-0.5, math.nan), (-0.5, math.inf), (-0.5, -math.inf)],
)
def test_answers_that_no_ratio_can_be_had_from_are_refused(log_probs: tuple[float, ...]) -> None:
    """One of them in the replay would stop the learner each time that it is drawn."""
    good = trajectory("x", screens=(0, 1, 2), tokens=2)
    bad = replace(good.decisions[1], log_probs=log_probs)
    replay = ReplayBuffer()
    receipt = replay.insert(replace(good, decisions=(good.decisions[0], bad)))
    assert (receipt.outcome, len(replay), replay.nbytes) == (Outcome.MALFORMED, 0, 0)
    assert replay.gauges()["refused"] == 1.0
    assert replay.insert(good).outcome is Outcome.STORED


def test_a_trajectory_without_a_decision_is_refused() -> None:
    replay = ReplayBuffer()
    assert replay.insert(trajectory("x", screens=(1,))).outcome is Outcome.EMPTY
    assert (len(replay), replay.nbytes, replay.gauges()["refused"]) == (0, 0, 1.0)


def test_one_that_could_never_fit_is_refused_and_nobody_leaves_for_it() -> None:
    replay = filled(3)
    size = ReplayBuffer()
    size.insert(trajectory("large", screens=range(40)))
    tight = filled(3, byte_limit=size.nbytes - 1)
    before = tight.nbytes
    assert tight.insert(trajectory("large", screens=range(40))).outcome is Outcome.TOO_LARGE
    assert (len(tight), tight.nbytes, len(replay)) == (3, before, 3)
    exact = filled(3, byte_limit=size.nbytes)
    receipt = exact.insert(trajectory("large", screens=range(40)))
    assert (receipt.outcome, receipt.evicted) == (Outcome.STORED, ("0", "1", "2"))
    assert exact.nbytes == size.nbytes
    waiting = trajectory("waiting", screens=[7] * 60)  # long, but of one screen
    assert exact.insert(waiting).outcome is Outcome.STORED


# Bounds and reference counts ----------------------------------------------------------------------

OFFERS = st.lists(
    st.tuples(
        st.integers(0, 12),  # few ids, so that some are sent again
        st.lists(st.integers(0, 9), min_size=1, max_size=6),  # few screens, so that they are shared
        st.sampled_from(list(Ending)),
    ),
    max_size=30,
)


@given(OFFERS, st.integers(1, 6), st.integers(3_000, 30_000))
def test_both_bounds_hold_and_no_screen_leaks(
    offers: list[tuple[int, list[int], Ending]], capacity: int, byte_limit: int
) -> None:
    replay = ReplayBuffer(ReplaySettings(capacity=capacity, byte_limit=byte_limit))
    expected: list[str] = []
    for number, screens, ending in offers:
        offered = trajectory(f"t{number}", screens, ending)
        size = len(replay)
        receipt = replay.insert(offered)
        assert list(receipt.evicted) == expected[: len(receipt.evicted)]  # the oldest first
        expected = expected[len(receipt.evicted) :]
        if receipt.outcome is Outcome.STORED:
            expected.append(offered.id)
        else:
            assert len(replay) == size
        inside = held(replay)
        assert [t.id for t in inside] == expected
        assert len(replay) <= capacity
        assert replay.nbytes <= byte_limit
        check_accounts(replay, inside)
        check_draws(replay, expected, number)


def check_draws(replay: ReplayBuffer, inside: list[str], number: int) -> None:
    """Only what is in is drawn, and only that has a priority; then one of them changes."""
    priorities = replay.state_dict()["priorities"]
    assert replay.gauges()["largest_priority"] == max(priorities, default=0.0)
    if inside:
        draws = replay.sample(10, np.random.default_rng(number))
        assert {draw.trajectory.id for draw in draws} <= set(inside)
        assert replay.update_priorities([draws[number % 10].slot_id], [float(number)]) == 0


def test_the_bytes_are_those_that_python_allocates() -> None:
    """Trajectories as they arrive from another process, with tokens; within a few per cent."""
    decision = Decision(Tap(0.25, 0.5), "tap 0.25 0.5", tuple(range(300, 380)), (-0.7,) * 80)
    episode = demonstrate(load_task("notes.create/train/3")[0], SimulatedDevice("x"))
    made = replace(episode, decisions=(decision,) * len(episode.decisions))
    packed = ReplayBuffer()
    packed.insert(made)
    made = packed.next_slice(1)[0].trajectory
    parcels = []
    for number in range(20):
        tokens = tuple(
            replace(
                decision,
                token_ids=tuple(1000 * (number + 1) + t for t in range(80)),
                log_probs=tuple(-0.001 * t - number for t in range(80)),
                text=f"tap {number} {step}",
            )
            for step in range(len(made.decisions))
        )
        screens = tuple(own_screen(s, number) for s in made.screens)
        parcel = replace(made, id=f"parcel {number}", decisions=tokens, screens=screens)
        parcels.append(pickle.dumps(parcel))
    replay = ReplayBuffer(ReplaySettings(capacity=32))
    gc.collect()
    tracemalloc.start()
    for parcel_bytes in parcels:
        replay.insert(pickle.loads(parcel_bytes))
    gc.collect()
    allocated = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(replay) == 20
    assert allocated <= replay.nbytes <= 1.1 * allocated


def own_screen(screen: Any, number: int) -> CompressedScreen:
    """The same packed bytes under another name, so that nothing is shared."""
    return CompressedScreen(
        bytes(bytearray(screen.packed)), screen.height, screen.width, f"{screen.address}/{number}"
    )
