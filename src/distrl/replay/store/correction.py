"""A new verdict on a trajectory that is stored already, as bytes: how rescoring is kept.

The store never rewrites a record. A correction is a record of its own behind it, which names the
place of the trajectory that it is about, so that a reader that comes across it finds the screens
without an index. The last correction counts. The body is JSON by the names of the fields, each
checked when it is read; whatever is wrong, `decode_correction` raises `CorruptRecord`.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

from distrl.errors import CorruptRecord
from distrl.records import Ending, Trajectory, Verdict


@dataclass(frozen=True, slots=True)
class Correction:
    """How a trajectory ended after all, and who says so."""

    ending: Ending
    verdict: Verdict

    def __post_init__(self) -> None:
        if not self.ending.judged:
            raise ValueError(f"a verdict with the ending {self.ending.value}, which has none")

    def applied_to(self, trajectory: Trajectory) -> Trajectory:
        return dataclasses.replace(trajectory, ending=self.ending, verdict=self.verdict)


@dataclass(frozen=True, slots=True)
class PlacedCorrection:
    """A correction, and where the trajectory is that it corrects."""

    correction: Correction
    segment: int
    offset: int


def encode_correction(placed: PlacedCorrection) -> bytes:
    verdict = placed.correction.verdict
    tree = {
        "segment": placed.segment,
        "offset": placed.offset,
        "ending": placed.correction.ending.value,
        "success": verdict.success,
        "reason": verdict.reason,
        "judge": verdict.judge,
    }
    return json.dumps(tree, separators=(",", ":")).encode("ascii")


def decode_correction(body: bytes) -> PlacedCorrection:
    try:
        tree = json.loads(body)
        kinds = {"segment": int, "offset": int, "success": bool, "reason": str, "judge": str}
        for name, kind in kinds.items():
            if type(tree[name]) is not kind:
                raise TypeError(f"{name} is {tree[name]!r}, no {kind.__name__}")
        verdict = Verdict(tree["success"], tree["reason"], tree["judge"])
        correction = Correction(Ending(tree["ending"]), verdict)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise CorruptRecord(
            f"{len(body)} bytes hold no correction ({type(error).__name__}: {error}); they are "
            "damaged, or were made by something else"
        ) from error
    return PlacedCorrection(correction, tree["segment"], tree["offset"])
