"""A new verdict on a stored trajectory, as sealed bytes: how rescoring and late judging are kept.

The trajectory's own bytes stay as its collector sent them; the correction lies beside them in the
same row and replaces ending and verdict for every reader. The bytes are a checksum and JSON;
whatever is wrong with them, `decode_correction` raises `CorruptRecord`.
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from dataclasses import dataclass

from distrl.errors import CorruptRecord
from distrl.records import Ending, Trajectory, Verdict


@dataclass(frozen=True, slots=True)
class Correction:
    """The ending and the verdict that replace those of the episode."""

    ending: Ending
    verdict: Verdict

    def __post_init__(self) -> None:
        if not self.ending.judged:
            raise ValueError(f"a verdict with the ending {self.ending.value}, which has none")

    def applied_to(self, trajectory: Trajectory) -> Trajectory:
        return dataclasses.replace(trajectory, ending=self.ending, verdict=self.verdict)


def encode_correction(correction: Correction) -> bytes:
    verdict = correction.verdict
    text = json.dumps([correction.ending.value, verdict.success, verdict.reason, verdict.judge])
    return zlib.crc32(text.encode()).to_bytes(4, "little") + text.encode()


def decode_correction(data: bytes) -> Correction:
    try:
        if zlib.crc32(data[4:]).to_bytes(4, "little") != data[:4]:
            raise ValueError("its checksum is wrong")
        ending, success, reason, judge = json.loads(data[4:])
        if (type(success), type(reason), type(judge)) != (bool, str, str):
            raise TypeError(f"{[success, reason, judge]!r} is no verdict")
        return Correction(Ending(ending), Verdict(success, reason, judge))
    except (TypeError, ValueError, RecursionError) as error:
        raise CorruptRecord(
            f"{len(data)} bytes hold no correction ({type(error).__name__}: {error}); they are "
            "damaged, or were made by something else"
        ) from error
