"""Random walks over every app, language and screen size: nothing raises, and pixels repeat.

Each walk is one app on one phone, with a language and a screen of its own; random actions tap,
hold, swipe, drag, pinch, type in seven scripts, press keys, go back and home. On every third phone
time passes, and calls, messages and alarms interrupt. A second process repeats some of the walks,
and the digests of all frames must agree.

    python -m benchmarks.phone_walks --actions 100000
    python -m benchmarks.phone_walks --actions 25000 --skip 25000   # the second quarter, added

The tests run a few hundred actions.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import random
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.console import Console

from benchmarks.results_file import added, write_results
from distrl.records import (
    Action,
    Back,
    DoubleTap,
    DragAndDrop,
    Enter,
    Home,
    LongPress,
    OpenApp,
    OpenShade,
    Pinch,
    Power,
    Recents,
    Swipe,
    Tap,
    TypeText,
    VolumeDown,
    VolumeUp,
    Wait,
)
from phonesim.apps import APPS
from phonesim.apps.everyday import EVERYDAY_APPS, install
from phonesim.display import read_display
from phonesim.drift import Drift
from phonesim.languages.language import FOLDERS
from phonesim.phone import Phone
from phonesim.system import InstalledApp

SCREENS = (
    "360x720@1", "360x800@1", "720x1440@2", "1080x2400@3", "720x360@1", "1280x800@1", "800x1280@1",
)  # fmt: skip
TEXTS = (
    "hello", "Größe", "Привет", "你好，世界", "こんにちは", "مرحبا 12", "שלום (ok)", "नमस्ते",
    "👍🏽❤️👩‍🚀", "\n", "a" * 200, "\u200d\ufe0f", "12,5 €",
)  # fmt: skip
PER_WALK = 50
AIMED = 0.4  # share of the actions that tap a reacting element
EVENTS = 0.05  # probability per five seconds, on every third phone


class Walk(NamedTuple):
    """One random walk through one app."""

    seed: int
    app: str
    language: str
    screen: str
    actions: int


def walks(actions: int, skip: int = 0) -> Iterator[Walk]:
    """Yield a walk for every app in turn; languages and screens cycle with other periods."""
    apps, languages = list(APPS), list(FOLDERS)
    first = skip // PER_WALK
    for index in range(first, first - (-actions // PER_WALK)):
        left = min(PER_WALK, actions - (index - first) * PER_WALK)
        language = languages[(index // len(apps) + index) % len(languages)]
        screen = SCREENS[(index // len(apps) + index) % len(SCREENS)]
        yield Walk(index, apps[index % len(apps)], language, screen, left)


def random_action(rng: random.Random) -> Action:
    x, y, to_x, to_y = (rng.random() for _ in range(4))
    kinds: tuple[Action, ...] = (
        Tap(x, y),
        LongPress(x, y),
        Swipe(x, y, to_x, to_y, seconds=rng.choice((0.1, 0.8))),
        TypeText(rng.choice(TEXTS)),
        Back(),
        Enter(),
        Wait(rng.choice((1.0, 60.0))),
        Home(),
        Swipe(0.5, 0.005, 0.5, 0.6),
        OpenApp(rng.choice(list(APPS))),
        DoubleTap(x, y),
        DragAndDrop(x, y, to_x, to_y),
        Pinch(x, y, rng.choice((0.5, 2.0))),
        rng.choice((Recents(), OpenShade(), VolumeUp(), VolumeDown(), Power())),
    )
    return rng.choices(kinds, (60, 6, 14, 8, 5, 3, 1, 1, 1, 1, 2, 2, 2, 3))[0]


def walk_digest(walk: Walk) -> str:
    """Perform a walk, and return the digest of all its frames."""
    rng, events = random.Random(f"walk/{walk.seed}"), EVENTS if walk.seed % 3 == 0 else 0.0
    drift = Drift(languages=(walk.language,), event_rate=events)
    phone = Phone(walk.seed, drift, read_display(walk.screen))
    if walk.app in {app.name for app in EVERYDAY_APPS}:
        install(phone.facts, random.Random(f"walk everyday/{walk.seed}"))
    elif phone.facts.find(InstalledApp, lambda app: app.name == walk.app) is None:
        phone.facts.add(InstalledApp(name=walk.app))
    phone.perform(OpenApp(walk.app))
    phone.frame()  # an app without the facts it needs closes when it is drawn
    if phone.state.front != walk.app:
        raise RuntimeError(f"{walk}: the app is not open, {phone.state.front} is in front")
    digest = hashlib.blake2b(digest_size=12)
    for _ in range(walk.actions):
        phone.perform(aimed_tap(phone, rng) if rng.random() < AIMED else random_action(rng))
        digest.update(phone.frame().tobytes())
    return digest.hexdigest()


def aimed_tap(phone: Phone, rng: random.Random) -> Action:
    """Tap something that reacts; without it walks would hardly leave the first page."""
    targets = [e for e in phone.elements() if e.clickable and e.window != "system"]
    if not targets:
        return Back()
    (x, y), display = rng.choice(targets).centre, phone.display
    return Tap(x / display.width, y / display.height)


def walked(all_walks: Iterable[Walk]) -> dict[Walk, str]:
    """Return the digest of each walk; name a walk that raises."""
    digests: dict[Walk, str] = {}
    walk = None
    try:
        for walk in all_walks:
            digests[walk] = walk_digest(walk)
            walk = None
    finally:
        if walk is not None:
            Console(stderr=True).print(f"stopped in {walk}")
    return digests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actions", type=int, default=2_000)
    parser.add_argument("--skip", type=int, default=0, help="actions that earlier runs have done")
    parser.add_argument("--again", type=int, default=2_000, help="of these, in a second process")
    options = parser.parse_args()
    begun = time.perf_counter()
    digests = walked(walks(options.actions, options.skip))
    seconds = time.perf_counter() - begun
    again = list(walks(min(options.again, options.actions), options.skip))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.map(walk_digest, again)
    differ = [w for w, digest in zip(again, there, strict=True) if digest != digests[w]]
    counts = {
        "actions": options.actions,
        "exceptions": 0,  # an exception would have ended the run
        "walks": len(digests),
        "walks_in_a_second_process": len(again),
        "walks_with_other_pixels_there": len(differ),
        "seconds": seconds,
    }
    figures = (added("phone_walks", counts) if options.skip else counts) | {
        "languages": len(FOLDERS),
        "screens": len(SCREENS),
        "apps": len(APPS),
    }
    Console().print(figures)
    write_results("phone_walks", figures, "python -m benchmarks.phone_walks")
    if differ:
        raise SystemExit(f"other pixels in a second process: {differ[:3]}")


if __name__ == "__main__":
    main()
