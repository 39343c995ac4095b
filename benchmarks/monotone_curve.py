"""Time to a level of success, estimated from measurements of a few episodes each.

The first measurement that reaches a level may do so by luck. So success is assumed to grow with
time, and the curve is the monotone least-squares fit (pool adjacent violators): neighbours that
violate monotonicity are pooled, which averages noise away. The curve is linear between the means of
the pools.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

Points = Sequence[tuple[float, float]]  # seconds, success
RESAMPLES = 2000  # of the seeds, for the bootstrap
END = 0.25  # share of the time over which the final level is averaged
SOONEST = 1.0  # least seconds to a level, so that ratios stay finite where a curve begins at it


def monotone(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the mean time and success of each pool, both increasing."""
    pools: list[list[tuple[float, float]]] = []
    for point in sorted(points):
        pools.append([point])
        while len(pools) > 1 and _mean(pools[-2])[1] >= _mean(pools[-1])[1]:
            last = pools.pop()
            pools[-1] += last
    return [_mean(pool) for pool in pools]


def seconds_to(level: float, curve: Points) -> float | None:
    """Return when a monotone curve reaches a level, or None if it never does."""
    if curve and curve[0][1] >= level:
        return curve[0][0]
    for (begin, before), (end, after) in pairwise(curve):
        if after >= level:
            return begin + (level - before) / (after - before) * (end - begin)
    return None


def time_ratio(
    theirs: Sequence[Points], ours: Sequence[Points], whole: float, seed: int = 0
) -> tuple[float, float, float, float]:
    """Return the time that theirs need to their final level over the time that ours need to it.

    Returns the ratio, its 95 % interval and the level. The measurements of all seeds of an arm are
    pooled into one set of points; the interval is a percentile bootstrap over pairs of seeds, which
    is narrow for few seeds. This figure was chosen after others had been seen (docs/log.md);
    `times_by_seed` is the same without pooling.
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
    """Return, for each pair of runs, the seconds of both to the final level of theirs."""
    levels = [final_level(points, whole) for points in theirs]
    slow, fast = (
        [_seconds(level, points, whole) for level, points in zip(levels, runs, strict=True)]
        for runs in (theirs, ours)
    )
    return slow, fast


def final_level(points: Points, whole: float) -> float:
    """Return the mean success of the last `END` of the time."""
    return statistics.fmean(y for x, y in points if x >= (1.0 - END) * whole)


def _seconds(level: float, points: Points, whole: float) -> float:
    """Return the seconds to a level, for ratios: the whole time where it is never reached."""
    reached = seconds_to(level, monotone(points))
    return whole if reached is None else max(SOONEST, reached)


def _mean(pool: Sequence[tuple[float, float]]) -> tuple[float, float]:
    seconds, success = np.mean(pool, axis=0)
    return float(seconds), float(success)
