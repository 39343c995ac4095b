"""The histogram buckets of staleness, for the learner and for the pages that show it.

Imports nothing heavy, so that `distrl view` can read the names without loading torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

STALENESS_EDGES = (0, 1, 2, 4, 8, 16, 32)  # upper bound of each bucket; one more above the last


def staleness_histogram(behind: Sequence[int]) -> tuple[int, ...]:
    """Count the values in each bucket of STALENESS_EDGES, and above the last."""
    counts = [0] * (len(STALENESS_EDGES) + 1)
    for each in behind:
        counts[sum(each > edge for edge in STALENESS_EDGES)] += 1
    return tuple(counts)


def bucket_names() -> list[str]:
    """Return the names of the buckets: 0, 1, 2, 3_to_4, …, over_32."""
    edges = (-1, *STALENESS_EDGES)
    names = [
        str(high) if high - low == 1 else f"{low + 1}_to_{high}" for low, high in pairwise(edges)
    ]
    return [*names, f"over_{STALENESS_EDGES[-1]}"]
