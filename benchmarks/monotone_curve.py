"""Time to a level of success, from measurements that are each of a few episodes.

The first measurement that reaches a level is a lucky one. So success is taken to grow with time,
and the curve is the monotone one with the least squares (pool adjacent violators): neighbours
that contradict that are pooled, which averages their luck away. Between the middles of pools it is
a straight line.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

Points = Sequence[tuple[float, float]]  # seconds, success
RESAMPLES = 2000  # of the seeds
END = 0.25  # of the time: where a run ends is the mean of what was measured in it


def monotone(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The middles of the pools: time and success, both rising."""
    pools: list[list[tuple[float, float]]] = []
    for point in sorted(points):
        pools.append([point])
        while len(pools) > 1 and _mean(pools[-2])[1] >= _mean(pools[-1])[1]:
            last = pools.pop()
            pools[-1] += last
    return [_mean(pool) for pool in pools]


def seconds_to(level: float, curve: Points) -> float | None:
    """When a monotone curve comes to a level; None: it never does."""
    if curve and curve[0][1] >= level:
        return curve[0][0]
    for (begin, before), (end, after) in pairwise(curve):
        if after >= level:
            return begin + (level - before) / (after - before) * (end - begin)
    return None


def time_ratio(
    theirs: Sequence[Points], ours: Sequence[Points], whole: float, seed: int = 0
) -> tuple[float, float, float, float]:
    """How many times as long they take to where they end: the ratio, 95 %, and that level.

    Runs of an arm are one cloud of points; the interval is of seeds drawn anew, in pairs. Where an
    arm never comes to the level, it counts with the whole time.
    """

    def of(seeds: Iterable[int]) -> tuple[float, float]:
        chosen = list(seeds)
        slow, fast = (
            [point for number in chosen for point in runs[number]] for runs in (theirs, ours)
        )
        level = statistics.fmean(y for x, y in slow if x >= (1.0 - END) * whole)
        to = [seconds_to(level, monotone(points)) or whole for points in (slow, fast)]
        return to[0] / to[1], level

    rng = np.random.default_rng(seed)
    count = len(theirs)
    drawn = [of(rng.integers(count, size=count).tolist())[0] for _ in range(RESAMPLES)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    middle, level = of(range(count))
    return middle, float(low), float(high), level


def _mean(pool: Sequence[tuple[float, float]]) -> tuple[float, float]:
    seconds, success = np.mean(pool, axis=0)
    return float(seconds), float(success)
