"""The ids of trajectories that a store has let go of, on disk: a resend must not count as new.

A file in the format of a segment, with a record for each segment that was dropped: its number as
the id, the ids that were in it as JSON. It is written before the segment is removed, so whoever is
killed in between finds both, and finishes. The trajectory store calls it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from distrl.replay.store.segment import DROPPED, Damage, Segment
from distrl.replay.store.segment_writer import SegmentWriter

NAME = "dropped.records"
NUMBER = 0  # no segment of trajectories has it


@dataclass(slots=True)
class Recalled:
    """What is remembered: segments, the ids that were in them, and what could not be read."""

    segments: set[int] = field(default_factory=set)
    ids: list[str] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)


class DroppedIds:
    """Remembers what was in segments that are gone."""

    def __init__(self, directory: Path, *, wait_for_disk: bool = True) -> None:
        self.path = directory / NAME
        self._wait_for_disk = wait_for_disk

    def recall(self) -> Recalled:
        """All that is remembered. A torn end is cut off."""
        recalled = Recalled()
        if not self.path.exists():
            return recalled
        with Segment(self.path, NUMBER) as segment:
            end = segment.size
            for found in segment.walk():
                if isinstance(found, Damage):
                    recalled.damages.append(found)
                    end = found.offset if found.end == segment.size else end
                elif found.kind == DROPPED and found.body is not None:
                    recalled.segments.add(int(found.id))
                    recalled.ids += json.loads(found.body)
        with closing(self._writer()) as writer:
            writer.create_or_go_on()
            writer.cut(end)
        return recalled

    def remember(self, segment: int, ids: Sequence[str]) -> None:
        """From when this returns, on the disk."""
        with closing(self._writer()) as writer:
            writer.create_or_go_on()
            writer.add([(DROPPED, str(segment), json.dumps(ids).encode("ascii"))])

    def _writer(self) -> SegmentWriter:
        return SegmentWriter(self.path, NUMBER, wait_for_disk=self._wait_for_disk)
