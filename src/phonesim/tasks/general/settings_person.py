"""Tasks in Settings that personalise the phone: its look, name, lock and time zone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps.settings_pages.catalogue import FONT_SIZES
from phonesim.contents.time_zones import TIME_ZONES
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.settings import settings_missing, to_page
from phonesim.tasks.general.tolerance import same_text
from phonesim.tasks.moves import Fill, Move, Press, Toggle
from phonesim.tasks.template import Template, View

LOOKS = Domain(
    "font sizes and themes",
    tuple((size, dark) for size in FONT_SIZES for dark in (False, True)),
)
ZONE_NAMES = Domain("time zones", tuple(TIME_ZONES))
PHONE_NAMES = Domain(
    "phone names",
    (
        "Pocket", "Blue whale", "Work phone", "Nomad", "Little fox", "Phone of Ada", "Comet",
        "Tin can", "Marble", "Second brain", "Kiwi", "Old faithful", "Lighthouse", "Paper plane",
    ),
)  # fmt: skip
PINS = Domain("pins", tuple(str(1009 + 733 * n % 8990) for n in range(40)))


@dataclass(frozen=True)
class SetLook(Template):
    name = "settings.look"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        "Set the font size to {size} and turn the dark theme {dark}",
        "I want the dark theme {dark} and the font size {size}",
        "Turn {dark} the dark theme, then choose the font size {size}",
    )
    touches = (SystemSettings,)
    look: tuple[str, bool] = parameter(LOOKS)

    def words(self) -> dict[str, str]:
        size, dark = self.look
        return {"size": size, "dark": "on" if dark else "off"}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        size, dark = self.look
        others = [scale for name, scale in FONT_SIZES.items() if name != size]
        facts.change(SystemSettings, dark_mode=not dark, font_scale=rng.choice(others))

    def missing(self, start: View, end: View) -> str | None:
        size, dark = self.look
        return settings_missing(start, end, {"dark_mode": dark, "font_scale": FONT_SIZES[size]})

    def solve(self, start: View) -> Iterable[Move]:
        size, dark = self.look
        yield from to_page("display")
        yield Toggle("Dark theme", dark)
        yield Press("Font size", role="row")
        yield Press(size)


@dataclass(frozen=True)
class SetTimeZone(Template):
    name = "settings.time_zone"
    apps = ("Settings",)
    difficulty = "hard"
    phrasings = (
        "Set the time zone to {city} by hand",
        "Stop setting the time automatically and choose the time zone {city}",
        "I am in {city} now: turn off the automatic time and pick that time zone",
    )
    touches = (SystemSettings,)
    city: str = parameter(ZONE_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        home = "Berlin" if self.city != "Berlin" else "Lisbon"
        facts.change(SystemSettings, automatic_time=True, timezone=home)

    def missing(self, start: View, end: View) -> str | None:
        return settings_missing(start, end, {"timezone": self.city, "automatic_time": False})

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("date_time")
        yield Toggle("Set time automatically", False)
        yield Press("Time zone", role="row")
        yield Fill("Search time zone", self.city)
        yield Press(self.city, role="row")


@dataclass(frozen=True)
class RenamePhone(Template):
    name = "settings.rename_phone"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        'Rename this phone to "{title}"',
        'Change the device name to "{title}"',
        'My phone should be called "{title}" from now on',
    )
    touches = (SystemSettings,)
    title: str = parameter(PHONE_NAMES)

    def missing(self, start: View, end: View) -> str | None:
        named = end.one(SystemSettings).device_name
        wanted = named if same_text(named, self.title) else self.title
        return settings_missing(start, end, {"device_name": wanted})

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("about")
        yield Press("Device name", role="row")
        yield Fill("Name", self.title)
        yield Press("Save")


@dataclass(frozen=True)
class SetPin(Template):
    name = "settings.screen_pin"
    apps = ("Settings",)
    difficulty = "hard"
    phrasings = (
        "Lock the screen with the PIN {pin}",
        "Set up a screen lock with the PIN {pin}",
        "Protect my phone: use {pin} as the PIN of the screen lock",
    )
    touches = (SystemSettings,)
    held_out = True
    pin: str = parameter(PINS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.change(SystemSettings, screen_lock=rng.choice(("None", "Swipe")), screen_pin="")

    def missing(self, start: View, end: View) -> str | None:
        return settings_missing(start, end, {"screen_lock": "PIN", "screen_pin": self.pin})

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("security")
        yield Press("Screen lock", role="row")
        yield Press("PIN", role="row")
        yield Fill("New PIN", self.pin)
        yield Press("Save")


TEMPLATES: tuple[type[Template], ...] = (SetLook, SetTimeZone, RenamePhone, SetPin)
