"""Random walks over apps, languages and screens: nothing raises, and the same walk repeats."""

from __future__ import annotations

import multiprocessing

import pytest
from benchmarks.phone_walks import SCREENS, Walk, walk_digest, walks

from benchmarks import phone_walks
from phonesim.apps import APPS
from phonesim.apps.everyday import EVERYDAY_APPS


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


def test_every_app_is_open_when_its_walk_begins() -> None:
    digests = {name: walk_digest(Walk(3, name, "English", "360x720@1", 1)) for name in APPS}
    assert len({digests[app.name] for app in EVERYDAY_APPS}) == len(EVERYDAY_APPS)


def test_a_walk_in_an_app_that_does_not_open_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phone_walks, "EVERYDAY_APPS", ())  # Wallet then comes without its facts
    with pytest.raises(RuntimeError, match="not open"):
        walk_digest(Walk(3, "Wallet", "English", "360x720@1", 1))


@pytest.mark.slow
def test_the_same_pixels_in_another_process() -> None:
    chosen = list(walks(7 * 50))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(walk_digest, chosen) == [walk_digest(walk) for walk in chosen]
