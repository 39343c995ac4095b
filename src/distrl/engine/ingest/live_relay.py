"""Writes the phone states that collectors on other disks send to where `distrl view` reads them.

A collector whose disk is not the learner's cannot see the lease of a viewer. The learner tells it
in the replies to its heartbeats that somebody watches (`watched`); its heartbeats then bring the
slots that changed (`LiveFeed.drain`), at most `live_feed.RELAY_BYTES` each. While nobody watches,
nothing is sent.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

from distrl.episodes.live_feed import FOLDER, LiveUpdate, WatchLease
from distrl.episodes.slot_file import Slot, SlotFile

NAME = re.compile(r"[a-z]+-[0-9]+\.[0-9]+")  # of a collector, as the registry assigns them
MAX_PHONES = 1024  # of one collector that are shown


class LiveRelay:
    """Writes the slots that heartbeats bring into the run's directory. Thread-safe."""

    def __init__(self, run: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = run / FOLDER
        self._lease = WatchLease(run, clock)
        self._lock = threading.Lock()
        self._files: dict[str, SlotFile] = {}
        self._pictures: dict[tuple[str, int], bytes] = {}  # the last one of each phone

    @property
    def watched(self) -> bool:
        return self._lease.holds

    def take(self, collector: str, update: LiveUpdate) -> None:
        """Write the slots that changed; one without a picture keeps its phone's last picture."""
        if not update.slots or not NAME.fullmatch(collector):
            return
        with self._lock:
            if collector not in self._files:
                path, phones = self._folder / f"{collector}.phones", min(update.phones, MAX_PHONES)
                self._files[collector] = SlotFile(path, phones)
            for number, slot in update.slots.items():
                self._files[collector].write(number, self._whole(collector, number, slot))

    def _whole(self, collector: str, number: int, slot: Slot) -> Slot:
        if slot.picture:
            self._pictures[collector, number] = slot.picture
            return slot
        last = self._pictures.get((collector, number), b"")
        whole = Slot(slot.changes, slot.pictures, slot.state, last)
        return whole if whole.fits else slot

    def close(self) -> None:
        with self._lock:
            for file in self._files.values():
                file.close()
