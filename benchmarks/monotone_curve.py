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
SOONEST = 1.0  # seconds that a level takes where the curve begins at it, so that a ratio is finite


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
    """Time that theirs need to reach their final level over the time that ours need to reach it.

    Returns the ratio, its 95 % interval and the level. The looks of all seeds of an arm are one
    cloud of points; the interval is a percentile bootstrap over pairs of seeds, which is narrow for
    few seeds. This figure was chosen after others had been seen (docs/log.md); `times_by_seed` is
    the same without pooling.
    """

    def of(seeds: Iterable[int]) -> tuple[float, float]:
        chosen = list(seeds)
        slow, fast = (
            [point for number in chosen for point in runs[number]] for runs in (theirs, ours)
        )
        level = final_level(slow, whole)
        return _seconds(level, slow, whole) / _seconds(level, fast, whole), level

    rng = np.random.default_rng(seed)
    count = len(theirs)
    drawn = [of(rng.integers(count, size=count).tolist())[0] for _ in range(RESAMPLES)]
    low, high = np.quantile(drawn, (0.025, 0.975))
    middle, level = of(range(count))
    return middle, float(low), float(high), level


def times_by_seed(
    theirs: Sequence[Points], ours: Sequence[Points], whole: float
) -> tuple[list[float], list[float]]:
    """Of each pair of runs, the seconds of both to where theirs ends."""
    levels = [final_level(points, whole) for points in theirs]
    slow, fast = (
        [_seconds(level, points, whole) for level, points in zip(levels, runs, strict=True)]
        for runs in (theirs, ours)
    )
    return slow, fast


def final_level(points: Points, whole: float) -> float:
    """The mean success of the last part of the time."""
    return statistics.fmean(y for x, y in points if x >= (1.0 - END) * whole)


def _seconds(level: float, points: Points, whole: float) -> float:
    """Seconds to a level, to divide by: the whole time where it is never reached."""
    reached = seconds_to(level, monotone(points))
    return whole if reached is None else max(SOONEST, reached)


def _mean(pool: Sequence[tuple[float, float]]) -> tuple[float, float]:
    seconds, success = np.mean(pool, axis=0)
    return float(seconds), float(success)
