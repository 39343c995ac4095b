"""What collectors of other disks send of their phones is where the page looks for it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

from distrl.engine.ingest.live_relay import LiveRelay
from distrl.episodes.live_feed import FOLDER, LEASE, Audience, LiveUpdate, PhoneState
from distrl.episodes.slot_file import SLOT_BYTES, Slot
from distrl.view.live_wall import LiveWall

PICTURE = b"\xff\xd8 a picture"


def slot(changes: int, picture: bytes = b"", pictures: int = 1) -> Slot:
    state = PhoneState("phone-7", "collector-2.1", "deciding", time.time(), step=changes)
    return Slot(changes, pictures, msgspec.json.encode(state), picture)


def test_it_is_watched_while_a_lease_holds(tmp_path: Path) -> None:
    assert not LiveRelay(tmp_path).watched
    Audience(tmp_path).renew()
    assert LiveRelay(tmp_path).watched
    os.utime(tmp_path / FOLDER / LEASE, (1.0, 1.0))
    assert not LiveRelay(tmp_path).watched


def test_slots_are_written_where_the_page_looks_and_keep_their_picture(tmp_path: Path) -> None:
    Audience(tmp_path).renew()
    relay, wall = LiveRelay(tmp_path), LiveWall(tmp_path)
    relay.take("collector-2.1", LiveUpdate(3, {2: slot(1, PICTURE)}))
    [seen] = wall.changed()
    assert (seen.state.device, seen.state.step, seen.picture) == ("phone-7", 1, PICTURE)
    relay.take("collector-2.1", LiveUpdate(3, {2: slot(2)}))
    [seen] = wall.changed()
    assert (seen.state.step, seen.picture) == (2, None)  # that page has it
    [late] = LiveWall(tmp_path).changed()
    assert late.picture == PICTURE  # one that is opened now gets it too
    relay.close()


def test_what_is_no_slot_of_a_collector_is_left_out(tmp_path: Path) -> None:
    Audience(tmp_path).renew()
    relay = LiveRelay(tmp_path)
    relay.take("../collector-2.1", LiveUpdate(3, {0: slot(1)}))
    relay.take(
        "collector-2.1", LiveUpdate(3, {3: slot(1), -1: slot(1), 0: slot(1, bytes(SLOT_BYTES))})
    )
    assert list(LiveWall(tmp_path).changed()) == []
    assert [path.name for path in (tmp_path / FOLDER).glob("*.phones")] == ["collector-2.1.phones"]
    assert (tmp_path / FOLDER / "collector-2.1.phones").stat().st_size == 3 * SLOT_BYTES
