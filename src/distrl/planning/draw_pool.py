"""Random values drawn beforehand, and sampled without replacement.

Each value of a pool is drawn once before any is drawn again, in a new random order each time. That
is fast, and the mean of few draws is close to that of the distribution.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from distrl.planning.plan_settings import EpisodePlan, PhonePlan
from distrl.records import Tap
from phonesim import latency
from phonesim.latency import MAX_EPISODE, SHORTEST_EPISODE, Durations, LogNormal

STOCK = 8192
KINDS = {
    "paper_emulator": latency.PAPER_EMULATOR,
    "snapshot_emulator": latency.SNAPSHOT_EMULATOR,
    "event_driven": latency.EVENT_DRIVEN,
}


class DrawPool:
    """Samples the values of one pool without replacement."""

    __slots__ = ("_left", "_rng", "values")

    def __init__(self, values: Sequence[float], name: str, seed: int) -> None:
        self.values = np.asarray(values, dtype=np.float64)
        state = random.Random(f"plan/{name}/{seed}").getrandbits(64)
        self._rng = np.random.default_rng(state)
        self._left: list[float] = []

    def draw(self) -> float:
        if not self._left:
            self._left = self._rng.permutation(self.values).tolist()
        return self._left.pop()

    @property
    def mean(self) -> float:
        return float(self.values.mean())


def of_seconds(seconds: LogNormal, name: str, seed: int) -> DrawPool:
    """Return a pool of one distribution; a single value if it has no spread."""
    if not seconds.log_sd:
        return DrawPool([seconds.mean], name, seed)
    rng = random.Random(f"plan/{name}/stock/{seed}")
    return DrawPool([seconds.draw(rng) for _ in range(STOCK)], name, seed)


def of_episodes(phones: PhonePlan, seed: int) -> DrawPool:
    """Return a pool of factors, each of which scales the waits of one whole episode."""
    factor = LogNormal(1.0, phones.episode_log_sd)
    stock = of_seconds(factor, "episode_factor", seed).values
    return DrawPool(np.clip(stock, SHORTEST_EPISODE, MAX_EPISODE).tolist(), "episode", seed)


def of_phone(phones: PhonePlan, seed: int) -> tuple[DrawPool, DrawPool, DrawPool]:
    """Return pools of the seconds of a reset, a first screen and a step, at ordinary speed."""
    if phones.kind == "stated":
        stated = {"reset": phones.reset, "look": phones.look, "step": phones.step}
        reset, look, step = (of_seconds(each, name, seed) for name, each in stated.items())
        return reset, look, step
    durations = Durations(KINDS[phones.kind], "plan", seed)
    rng = random.Random(f"plan/pages/{seed}")
    tap = Tap(0.5, 0.5)
    resets, looks, steps = [], [], []
    for _ in range(STOCK):
        resets.append(durations.of_reset())
        looks.append(durations.of_settling() + durations.of_capture())
        page = durations.of_page_load() if rng.random() < phones.page_share else 0.0
        acted = durations.of_action(tap) + page
        steps.append(acted + durations.of_settling() + durations.of_capture())
    return (
        DrawPool(resets, "reset", seed),
        DrawPool(looks, "look", seed),
        DrawPool(steps, "step", seed),
    )


def of_lengths(episodes: EpisodePlan, seed: int) -> DrawPool:
    """Return a pool of episode lengths, in decisions."""
    if episodes.measured_steps:
        return DrawPool(episodes.measured_steps, "length", seed)
    rng = random.Random(f"plan/length/stock/{seed}")
    return DrawPool([_length(episodes, rng) for _ in range(STOCK)], "length", seed)


def _length(episodes: EpisodePlan, rng: random.Random) -> int:
    limit = episodes.step_limit
    if rng.random() < episodes.success_rate:
        drawn = round(rng.gauss(episodes.success_steps, episodes.success_steps_sd))
        return min(limit, max(min(2, limit), drawn))
    if rng.random() >= episodes.early_failures:
        return limit
    return rng.randint(min(3, limit), limit)


def of_shares(share: float, name: str, seed: int) -> DrawPool:
    """1 for the given share of draws, 0 for the others."""
    ones = round(share * 1000)
    return DrawPool([1.0] * ones + [0.0] * (1000 - ones), name, seed)
