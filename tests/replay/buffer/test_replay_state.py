"""A replay that was stopped and started again goes on as if nothing had happened."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.replay.made_up_replays import check_accounts, held
from tests.replay.made_up_trajectories import trajectory

from distrl.errors import CorruptSnapshot
from distrl.records import Trajectory
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings


def lived_in() -> tuple[ReplayBuffer, dict[str, Trajectory]]:
    """A replay in the middle of its life, and the disk behind it."""
    disk = {str(n): trajectory(str(n), screens=(n % 7, n % 5, n)) for n in range(40)}
    replay = ReplayBuffer(ReplaySettings(capacity=16))
    rng = np.random.default_rng(0)
    for number in range(30):
        replay.insert(disk[str(number)])
        draws = replay.sample(8, rng)
        replay.update_priorities([d.slot_id for d in draws], rng.uniform(0.0, 9.0, 8))
        replay.next_slice(3)
    return replay, disk


def live_on(replay: ReplayBuffer, disk: dict[str, Trajectory]) -> list[Any]:
    """What happens next, as a list of what could be seen of it."""
    rng = np.random.default_rng(77)
    seen: list[Any] = []
    for number in range(30, 40):
        receipt = replay.insert(disk[str(number)])
        draws = replay.sample(32, rng, beta=0.4)
        values = rng.uniform(0.0, 9.0, 32)
        stale = replay.update_priorities([d.slot_id - 3 for d in draws], values)
        walked = [(e.slot_id, e.priority, e.times_drawn) for e in replay.next_slice(2)]
        drawn = [
            (d.slot_id, d.trajectory.id, d.probability, d.times_drawn, d.weight) for d in draws
        ]
        seen += [receipt, drawn, stale, walked, replay.gauges()]
    return seen


def through_files(state: dict[str, Any]) -> dict[str, Any]:
    """As a checkpoint would keep it: JSON, and arrays as raw numbers."""
    arrays = {name: v for name, v in state.items() if isinstance(v, np.ndarray)}
    rest: dict[str, Any] = json.loads(
        json.dumps({n: v for n, v in state.items() if n not in arrays})
    )
    return rest | {n: np.frombuffer(v.tobytes(), v.dtype) for n, v in arrays.items()}


def test_a_restarted_replay_goes_on_exactly() -> None:
    replay, disk = lived_in()
    state = through_files(replay.state_dict())
    restarted = ReplayBuffer(ReplaySettings(capacity=16))
    assert restarted.load_state(state, disk.get) == ()
    assert restarted.gauges() == replay.gauges()
    assert live_on(restarted, disk) == live_on(replay, disk)
    check_accounts(restarted, held(restarted))


def test_a_state_is_a_snapshot_and_loading_replaces_what_was_in() -> None:
    replay, disk = lived_in()
    state = replay.state_dict()
    kept = through_files(state)
    expected = live_on(replay, disk)
    np.testing.assert_equal(through_files(state), kept)
    assert replay.load_state(state, disk.get) == ()
    assert live_on(replay, disk) == expected


def test_trajectories_that_are_lost_are_reported_and_the_rest_goes_on() -> None:
    replay, disk = lived_in()
    state = replay.state_dict()
    del disk["20"], disk["25"]
    assert replay.load_state(state, disk.get) == ("20", "25")
    inside = held(replay)
    assert len(inside) == 14
    check_accounts(replay, inside)
    priorities = dict(zip(state["ids"], state["priorities"], strict=True))
    for entry in replay.next_slice(14):
        assert entry.priority == priorities[entry.trajectory.id]
    live_on(replay, disk)


def test_what_nothing_can_be_learned_from_any_more_is_lost() -> None:
    replay, disk = lived_in()
    disk["22"] = replace(disk["22"], verdict=None)
    assert replay.load_state(replay.state_dict(), disk.get) == ("22",)


def test_a_smaller_replay_takes_the_newest() -> None:
    replay, disk = lived_in()
    small = ReplayBuffer(ReplaySettings(capacity=5))
    assert small.load_state(replay.state_dict(), disk.get) == ()
    assert [t.id for t in held(small)] == ["25", "26", "27", "28", "29"]
    live_on(small, disk)


BREAK: dict[str, Callable[[dict[str, Any]], Any]] = {
    "version": lambda state: state.update(version=0),
    "no ids": lambda state: state.pop("ids"),
    "an id short": lambda state: state["ids"].pop(),
    "an id twice": lambda state: state["ids"].__setitem__(3, state["ids"][2]),
    "slots before the first": lambda state: state.update(next_slot=3),
    "priority of zero": lambda state: state["priorities"].fill(0.0),
    "priority of nan": lambda state: state["priorities"].fill(np.nan),
    "measured nan": lambda state: state["measured"].append(float("nan")),
    "words for numbers": lambda state: state.update(times_drawn=["often"] * 16),
    "no counts": lambda state: state.update(counts=None),
}


@pytest.mark.parametrize("broken", BREAK)
def test_a_broken_state_is_refused_and_changes_nothing(broken: str) -> None:
    replay, disk = lived_in()
    state, before = replay.state_dict(), replay.state_dict()
    BREAK[broken](state)
    with pytest.raises(CorruptSnapshot):
        replay.load_state(state, disk.get)
    np.testing.assert_equal(replay.state_dict(), before)
