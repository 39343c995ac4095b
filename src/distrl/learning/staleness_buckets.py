"""The buckets in which staleness is counted: by the learner, and by what shows it.

Imports nothing heavy: the page of `distrl view` reads the names without loading torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

STALENESS_EDGES = (0, 1, 2, 4, 8, 16, 32)  # the highest in each bucket; one more for the rest


def staleness_histogram(behind: Sequence[int]) -> tuple[int, ...]:
    """How many lie in each bucket of STALENESS_EDGES, and above."""
    counts = [0] * (len(STALENESS_EDGES) + 1)
    for each in behind:
        counts[sum(each > edge for edge in STALENESS_EDGES)] += 1
    return tuple(counts)


def bucket_names() -> list[str]:
    """0, 1, 2, 3_to_4, …, over_32."""
    edges = (-1, *STALENESS_EDGES)
    names = [
        str(high) if high - low == 1 else f"{low + 1}_to_{high}" for low, high in pairwise(edges)
    ]
    return [*names, f"over_{STALENESS_EDGES[-1]}"]
