"""How phones differ, all from one seed: look, language, places, versions, pop-ups, ads, events.

The look is written into the phone's facts at the start (so that a user, or a task, can change it);
the layout variant and the rates stay in the drift itself.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from distrl.bounds import Probability, check_bounds
from distrl.errors import InvalidSetting
from phonesim.drawing.theme import ACCENTS, FONT_SCALES
from phonesim.facts import Facts
from phonesim.languages.language import FOLDERS
from phonesim.system import InstalledApp, SystemSettings

WALLPAPERS = ("dunes", "lake", "aurora", "paper", "hills", "night", "bloom", "slate")
VARIANTS = 8
VERSIONS = (1, 2, 3)
NEWEST = VERSIONS[-1]  # the look of this and all later versions


@dataclass(frozen=True, slots=True)
class Drift:
    """What may differ between phones. Rates are probabilities: of a pop-up per action, an ad per
    list, an event per five seconds of the phone's clock. At event rate 0, `world` does nothing.
    """

    themes: bool = True
    font_scales: bool = True
    wallpapers: bool = True
    icon_places: bool = True
    layouts: bool = True
    app_versions: bool = True
    popup_rate: Probability = 0.04
    ad_rate: Probability = 0.3
    languages: tuple[str, ...] = ("English",)  # a phone starts in one of these, by its seed
    event_rate: Probability = 0.0

    def __post_init__(self) -> None:
        check_bounds(self)
        unknown = [name for name in self.languages if name not in FOLDERS]
        if unknown or not self.languages:
            raise InvalidSetting(
                f"drift languages={self.languages!r}; name at least one of {', '.join(FOLDERS)}"
            )

    def undisturbed(self) -> Drift:
        """Return the same look without pop-ups and events."""
        return replace(self, popup_rate=0.0, event_rate=0.0)


NO_DRIFT = Drift(False, False, False, False, False, False, 0.0, 0.0)


def layout_variant(seed: int, drift: Drift) -> int:
    return random.Random(f"layout/{seed}").randrange(VARIANTS) if drift.layouts else 0


def navigation_reversed(seed: int, drift: Drift) -> bool:
    """Return whether Back is on the right, as some makers have it."""
    return drift.layouts and random.Random(f"navigation/{seed}").random() < 0.25


def dress(facts: Facts, seed: int, drift: Drift) -> None:
    """Give a phone its own look: theme, font, wallpaper, icon places, app versions."""
    rng = random.Random(f"look/{seed}")
    accent, dark = rng.choice(list(ACCENTS)), rng.random() < 0.35
    scale, wallpaper = rng.choice(FONT_SCALES), rng.choice(WALLPAPERS)
    if drift.themes:
        facts.change(SystemSettings, accent=accent, dark_mode=dark)
    if drift.font_scales:
        facts.change(SystemSettings, font_scale=scale)
    if drift.wallpapers:
        facts.change(SystemSettings, wallpaper=wallpaper)
    language = random.Random(f"language/{seed}").choice(drift.languages)
    facts.change(SystemSettings, language=language)
    apps = facts.all(InstalledApp)
    places = [app.place for app in apps]
    rng.shuffle(places)
    for app, place in zip(apps, places, strict=True):
        version = rng.choice(VERSIONS)
        if drift.icon_places:
            facts.edit(facts.get(InstalledApp, app.id), place=place)
        if drift.app_versions:
            facts.edit(facts.get(InstalledApp, app.id), version=version)
