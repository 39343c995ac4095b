"""Random walks over apps, languages and screens: nothing raises, and the same walk repeats."""

from __future__ import annotations

import multiprocessing

import pytest
from benchmarks.phone_walks import SCREENS, Walk, walk_digest, walks


def test_walks_cover_every_app_language_and_screen() -> None:
    found = list(walks(50_000))
    assert sum(walk.actions for walk in found) == 50_000
    for field, least in (("app", 30), ("language", 4), ("screen", len(SCREENS))):
        assert len({getattr(walk, field) for walk in found}) >= least


@pytest.mark.parametrize("screen", ["360x720@1", "720x360@1", "720x1440@2"])
def test_a_short_walk_raises_nothing(screen: str) -> None:
    walk = Walk(5, "Settings", "Chinese", screen, 12)
    assert walk_digest(walk) == walk_digest(walk)
    assert walk_digest(walk) != walk_digest(walk._replace(seed=6))


@pytest.mark.slow
def test_the_same_pixels_in_another_process() -> None:
    chosen = list(walks(7 * 50))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(walk_digest, chosen) == [walk_digest(walk) for walk in chosen]
