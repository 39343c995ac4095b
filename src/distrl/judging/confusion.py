"""How two judges agree: counts of what one said where the other, taken for the truth, said so."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(slots=True)
class Confusion:
    """Counts of four cases. Rates are NaN where nothing was counted yet."""

    true_positives: int = 0
    false_positives: int = 0  # called a success, and was none
    false_negatives: int = 0  # called a failure, and was a success
    true_negatives: int = 0

    def count(self, *, said: bool, truly: bool) -> None:
        self.true_positives += said and truly
        self.false_positives += said and not truly
        self.false_negatives += truly and not said
        self.true_negatives += not truly and not said

    @property
    def total(self) -> int:
        right = self.true_positives + self.true_negatives
        return right + self.false_positives + self.false_negatives

    @property
    def disagreement(self) -> float:
        return _share(self.false_positives + self.false_negatives, self.total)

    @property
    def false_positive_rate(self) -> float:
        """Of what was no success, the share that was called one."""
        return _share(self.false_positives, self.false_positives + self.true_negatives)

    @property
    def false_negative_rate(self) -> float:
        """Of the successes, the share that was not called one."""
        return _share(self.false_negatives, self.false_negatives + self.true_positives)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
