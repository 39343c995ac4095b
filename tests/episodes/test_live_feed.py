"""Phones are published while somebody watches, within bounds, and never otherwise."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from tests.episodes.made_up_collectors import (
    POOL,
    ListSink,
    ManualClock,
    Patient,
)

from distrl.episodes.collector import Collector
from distrl.episodes.device_pool import DevicePool
from distrl.episodes.episode import WORKS, Episode
from distrl.episodes.live_feed import (
    BURST_SECONDS,
    FOLDER,
    FOLLOWED,
    FOLLOWED_WIDTH,
    LARGEST_PICTURE,
    LEASE,
    LEASE_SECONDS,
    LOOK_SECONDS,
    RELAY_BYTES,
    SHARE,
    WIDTH,
    Audience,
    LiveFeed,
)
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.episodes.scheduler import Assignment, Lease
from distrl.episodes.stage_timer import StageTimer
from distrl.records import Decision, Observation, Screen
from distrl.task_sets.curriculum import UniformTasks
from distrl.view.live_wall import LiveWall
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge


def watched_at(run: Path, moment: float) -> None:
    assert Audience(run).renew()
    os.utime(run / FOLDER / LEASE, (moment, moment))


def played(
    feed: LiveFeed, phones: int = 2, episodes: int = 4, policy: Patient | None = None
) -> None:
    devices = [SimulatedDevice(name) for name in names(phones)]
    Collector[SimulatedDevice](
        "collector-0.1", PolicyBatcher(policy or Patient()), DevicePool(devices),
        UniformTasks(POOL), ListSink(), FactJudge, live=feed,
    ).run(episodes)  # fmt: skip


def names(phones: int) -> list[str]:
    return [f"phone-{number}" for number in range(phones)]


def test_nothing_is_written_while_nobody_watches(tmp_path: Path) -> None:
    played(LiveFeed(tmp_path, "collector-0.1", names(2)))
    assert list(tmp_path.iterdir()) == []


def test_what_is_watched_is_seen_with_its_screen(tmp_path: Path) -> None:
    Audience(tmp_path).renew()
    played(LiveFeed(tmp_path, "collector-0.1", names(2)))
    seen = {each.state.device: each for each in LiveWall(tmp_path).changed()}
    assert set(seen) == set(names(2))
    for each in seen.values():
        assert each.state.stage == "idle"
        assert each.state.action == {"kind": "Done"}
        assert (each.state.step, each.state.ending) == (3, "failure")
        assert each.picture is not None
        assert each.picture.startswith(b"\xff\xd8")


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    Audience(tmp_path).renew()
    feed, wall = LiveFeed(tmp_path, "collector-0.1", names(2)), LiveWall(tmp_path)
    played(feed, episodes=2)
    assert len(list(wall.changed())) == 2
    assert list(wall.changed()) == []
    played(feed, phones=1, episodes=1)
    [again] = wall.changed()
    assert again.state.device == names(1)[0]


def test_half_a_letter_of_an_answer_ends_no_episode(tmp_path: Path) -> None:
    """A served model may escape one in its JSON."""

    class Halves(Patient):
        def decide(self, observations: Sequence[Observation]) -> list[Decision]:
            decisions = super().decide(observations)
            return [replace(each, text="\ud800 and more") for each in decisions]

    Audience(tmp_path).renew()
    played(LiveFeed(tmp_path, "collector-0.1", names(2)), policy=Halves())
    seen = [each.state.answer for each in LiveWall(tmp_path).changed()]
    assert seen == ["? and more"] * 2


def test_a_slot_that_is_being_written_is_left_for_later(tmp_path: Path) -> None:
    Audience(tmp_path).renew()
    played(LiveFeed(tmp_path, "collector-0.1", names(1)), phones=1)
    [path] = (tmp_path / FOLDER).glob("*.phones")
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(content)
    wall = LiveWall(tmp_path)
    assert list(wall.changed()) == []
    content[60] ^= 1
    path.write_bytes(content)
    assert len(list(wall.changed())) == 1


def test_a_lease_runs_out(tmp_path: Path) -> None:
    clock = ManualClock()
    clock.advance(1000.0)
    watched_at(tmp_path, 1000.0)
    feed = LiveFeed(tmp_path, "collector-0.1", names(1), clock)
    assert feed.watched
    clock.advance(LEASE_SECONDS - 0.5)
    assert feed.watched
    clock.advance(1.0)
    assert not feed.watched


def test_thumbnails_take_no_more_than_their_share(tmp_path: Path) -> None:
    """A timer on which each thumbnail takes 10 ms, on a clock that stands still."""
    clock, timer = ManualClock(), ManualClock()
    clock.advance(1000.0)
    watched_at(tmp_path, 1000.0)

    def slow() -> float:
        timer.advance(0.005)
        return timer.now

    phones, at_once = 40, 9  # threads of a collector: each may draw one when the share is spent
    feed = LiveFeed(tmp_path, "collector-0.1", names(phones), clock, slow)
    played(feed, phones=phones, episodes=phones)
    drawn = timer.now / 0.01  # two readings for each
    allowed = round(BURST_SECONDS / 0.005) + at_once
    assert 0 < drawn <= allowed < phones
    clock.advance(0.005 * 10 / SHARE)
    watched_at(tmp_path, clock.now)
    played(feed, phones=phones, episodes=phones)
    assert drawn < timer.now / 0.01 <= drawn + 10 + at_once


def test_without_a_lease_on_its_disk_a_feed_waits_to_be_told(tmp_path: Path) -> None:
    clock = ManualClock()
    feed = LiveFeed(tmp_path, "collector-0.1", names(1), clock)
    assert not feed.watched
    feed.told_watched()
    played(feed, phones=1)
    [(number, slot)] = feed.drain().slots.items()
    assert (number, slot.picture[:2]) == (0, b"\xff\xd8")
    assert feed.drain().slots == {}
    assert list(tmp_path.iterdir()) == []
    clock.advance(LEASE_SECONDS)
    assert not feed.watched


def shown(feed: LiveFeed, phones: int) -> None:
    """Each phone shows the first screen of an episode."""
    task = POOL.task(POOL.templates[0], 0)
    for name in names(phones):
        device = SimulatedDevice(name)
        lease = Lease(device, StageTimer(WORKS), Assignment(task), task.id, 0.0)
        feed.show(lease, "deciding", Episode.begin(task, device, FactJudge(device)))


def test_a_heartbeat_takes_no_more_than_its_share_and_each_picture_once(tmp_path: Path) -> None:
    phones, large = 40, b"\xff\xd8" + bytes(12_000)
    clock = ManualClock()
    feed = LiveFeed(tmp_path, "c", names(phones), clock, lambda: 0.0, draw=lambda *_: large)
    feed.told_watched()
    shown(feed, phones)
    drained = [feed.drain().slots for _ in range(3)]
    assert [len(each) > 0 for each in drained] == [True, True, False]
    assert sum(map(len, drained)) == phones
    assert len(drained[0]) * len(large) <= RELAY_BYTES
    shown(feed, phones)  # the clock stands still: no new pictures
    again = feed.drain().slots
    assert len(again) == phones
    assert not any(slot.picture for slot in again.values())


def test_a_disk_that_refuses_costs_the_wall_alone(tmp_path: Path) -> None:
    Audience(tmp_path).renew()
    (tmp_path / FOLDER / "collector-0.1.phones").mkdir()
    played(LiveFeed(tmp_path, "collector-0.1", names(1)), phones=1)
    assert list(LiveWall(tmp_path).changed()) == []


def test_a_screen_that_was_drawn_is_not_drawn_again(tmp_path: Path) -> None:
    clock, widths = ManualClock(), list[int]()

    def draw(_: Screen, width: int) -> bytes:
        widths.append(width)
        return b"\xff\xd8"

    feed = LiveFeed(tmp_path, "c", names(2), clock, lambda: 0.0, draw=draw)
    feed.told_watched()
    for _ in range(3):
        shown(feed, 2)
        clock.advance(1.0)
    assert widths == [WIDTH, WIDTH]
    states = [msgspec.json.decode(each.state) for each in feed.drain().slots.values()]
    assert [each["pictured"] for each in states] == [True, True]  # as it was drawn before


def test_only_the_phone_that_is_followed_is_drawn_large(tmp_path: Path) -> None:
    drawn: list[int] = []

    def draw(screen: Screen, width: int) -> bytes:
        drawn.append(width)
        return bytes(LARGEST_PICTURE + 1) if width > WIDTH and len(drawn) > 3 else b"\xff\xd8"

    clock = ManualClock()
    clock.advance(1000.0)
    feed = LiveFeed(tmp_path, "c", names(2), clock, lambda: 0.0, draw=draw)
    assert Audience(tmp_path).renew(names(2)[1])
    for name in (LEASE, FOLLOWED):
        os.utime(tmp_path / FOLDER / name, (1000.0, 1000.0))
    shown(feed, 2)
    assert drawn == [WIDTH, FOLLOWED_WIDTH]
    clock.advance(LEASE_SECONDS)
    watched_at(tmp_path, clock.now)  # by somebody who follows none
    shown(feed, 2)
    assert drawn == [WIDTH, FOLLOWED_WIDTH, WIDTH]
    Audience(tmp_path).renew(names(2)[0])
    clock.advance(LOOK_SECONDS)
    for name in (LEASE, FOLLOWED):
        os.utime(tmp_path / FOLDER / name, (clock.now, clock.now))
    shown(feed, 1)
    assert drawn[3:] == [FOLLOWED_WIDTH, WIDTH]  # too large for its slot, so it stays small
