"""Replays full of made-up trajectories, and an accountant who counts them from nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.replay.made_up_trajectories import trajectory

from distrl.records import Trajectory
from distrl.replay.buffer.entries import Outcome, record_bytes
from distrl.replay.buffer.replay_buffer import ReplayBuffer, ReplaySettings
from distrl.replay.compressed_screen import CompressedScreen


def filled(n: int, **settings: Any) -> ReplayBuffer:
    """A replay with trajectories "0" to "n-1"."""
    replay = ReplayBuffer(ReplaySettings(**settings))
    for number in range(n):
        assert replay.insert(trajectory(str(number))).outcome is Outcome.STORED
    return replay


def held(replay: ReplayBuffer) -> list[Trajectory]:
    """What is in, oldest first."""
    state = replay.state_dict()
    names = {entry.trajectory.id: entry.trajectory for entry in replay.next_slice(len(replay))}
    return [names[name] for name in state["ids"]]


def check_accounts(replay: ReplayBuffer, inside: list[Trajectory]) -> None:
    """Bytes and references as counted from nothing."""
    screens = [s for t in inside for s in t.screens if isinstance(s, CompressedScreen)]
    assert len(screens) == sum(len(t.screens) for t in inside)
    users = Counter(s.address for s in screens)
    unique = {s.address: s for s in screens}
    store = replay._screens
    assert {address: store.users(s) for address, s in unique.items()} == users
    assert len(store) == len(unique)
    assert store.nbytes == sum(s.nbytes for s in unique.values())
    assert replay.nbytes == store.nbytes + sum(record_bytes(t) for t in inside)
