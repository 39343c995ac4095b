"""Tasks in Settings: switches, levels and choices."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from phonesim.apps.settings_pages.catalogue import SWITCHES, VOLUMES, path_to
from phonesim.facts import Facts
from phonesim.state import LAUNCHER
from phonesim.system import SystemSettings, switch
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.moves import GoHome, Move, Open, Press, PullShade, Slide, Toggle
from phonesim.tasks.template import Template, View, differing_fields

TOLERANCE = 0.04  # absolute, of a slider in [0, 1]
SPOKEN = {  # switch: what a person would call it
    "wifi": "Wi-Fi", "bluetooth": "Bluetooth", "nfc": "NFC", "location": "location services",
    "mobile_data": "mobile data", "roaming": "roaming", "data_saver": "data saver",
    "airplane_mode": "airplane mode", "hotspot": "the Wi-Fi hotspot",
    "do_not_disturb": '"Do not disturb"', "notification_dots": "notification dots",
    "lock_screen_notifications": "notifications on the lock screen",
    "notification_history": "the notification history", "battery_saver": "battery saver",
    "adaptive_battery": "adaptive battery", "auto_brightness": "adaptive brightness",
    "dark_mode": "the dark theme", "night_light": "night light", "auto_rotate": "auto-rotate",
    "always_on_display": "the always-on display", "lift_to_wake": '"Lift to wake"',
    "vibrate_on_ring": "vibration for calls", "touch_sounds": "touch sounds",
    "touch_vibration": "touch vibration", "charging_sounds": "charging sounds",
    "show_passwords": '"Show passwords"', "find_my_phone": '"Find my phone"',
    "usage_reports": "usage reports", "location_accuracy": "location accuracy",
    "wifi_scanning": 'the Wi-Fi option "Look for networks"',
    "use_24_hour": "the 24-hour format", "autocorrect": "autocorrect",
    "suggestions": "suggestions on the keyboard", "auto_capitals": "automatic capitals",
    "keyboard_sounds": "key sounds", "screen_reader": "the screen reader",
    "magnification": "magnification", "high_contrast_text": "high-contrast text",
    "color_inversion": "colour inversion", "mono_audio": "mono audio",
    "live_captions": "live captions",
}  # fmt: skip
LINKED = {  # switch: fields that may change along with it
    "airplane_mode": {"wifi", "bluetooth", "hotspot", "radios_before_airplane"},
    "wifi": {"hotspot"},
    "hotspot": {"wifi"},
}
SWITCH_NAMES = Domain("system switches", tuple(SPOKEN), say=SPOKEN.__getitem__)
TILES = {
    "flashlight": "Flashlight", "do_not_disturb": "Do not disturb", "auto_rotate": "Auto-rotate",
    "battery_saver": "Battery saver", "bluetooth": "Bluetooth", "wifi": "Wi-Fi",
    "mobile_data": "Mobile data", "airplane_mode": "Airplane mode", "dark_mode": "Dark theme",
    "hotspot": "Hotspot",
}  # fmt: skip
TILE_NAMES = Domain(
    "quick settings", tuple(TILES), say=(SPOKEN | {"flashlight": "the flashlight"}).__getitem__
)
PERCENTS = Domain("percents", tuple(range(5, 100, 5)), say=lambda percent: f"{percent} %")
VOLUME_PAIRS = Domain("pairs of volumes", tuple(itertools.permutations(VOLUMES, 2)))


def settings_missing(
    start: View, end: View, wanted: Mapping[str, object], linked: Iterable[str] = ()
) -> str | None:
    """Return None if these settings have these values and no others changed; else what is wrong."""
    old, new = start.one(SystemSettings), end.one(SystemSettings)
    for field, value in wanted.items():
        if getattr(new, field) != value:
            return f"{field} is {getattr(new, field)!r}, not {value!r}"
    others = differing_fields(old, new) - {*wanted, *linked}
    return f"other settings were changed: {sorted(others)}" if others else None


def levels_missing(start: View, end: View, shares: Mapping[str, float]) -> str | None:
    """Return None if these sliders are within `TOLERANCE` and no others changed; else why not."""
    for field, share in shares.items():
        level = float(getattr(end.one(SystemSettings), field))
        if abs(level - share) > TOLERANCE:
            return f"{field} is {level:.2f}, not about {share:.2f}"
    return settings_missing(start, end, {}, linked=shares)


def not_at_home(end: View) -> str | None:
    return None if (end.app, end.page) == (LAUNCHER, "home") else "the home screen is not in front"


def to_page(page: str) -> Iterable[Move]:
    """Yield the moves that open a page of Settings."""
    yield Open("Settings")
    yield from (Press(title, role="row") for title in path_to(page))


def far_from(share: float, rng: random.Random) -> float:
    """Return a random slider level that differs by more than 0.15."""
    return rng.choice([n / 20 for n in range(1, 20) if abs(n / 20 - share) > 0.15])


@dataclass(frozen=True)
class TurnOn(Template):
    name = "settings.turn_on"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        "Turn on {setting}, then go back to the home screen",
        "Please switch {setting} on and return to the home screen",
        "I would like to have {setting} enabled. When it is, show me the home screen",
        "Go to the settings, turn on {setting} and go home again",
    )
    touches = (SystemSettings,)
    wanted = True
    setting: str = parameter(SWITCH_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        switch(facts, self.setting, not self.wanted)

    def missing(self, start: View, end: View) -> str | None:
        linked = LINKED.get(self.setting, ())
        wrong = settings_missing(start, end, {self.setting: self.wanted}, linked)
        return wrong or not_at_home(end)

    def solve(self, start: View) -> Iterable[Move]:
        entry = SWITCHES[self.setting]
        yield from to_page(entry.page)
        yield Toggle(entry.label, self.wanted)
        yield GoHome()


@dataclass(frozen=True)
class TurnOff(TurnOn):
    name = "settings.turn_off"
    phrasings = (
        "Turn off {setting}, then go back to the home screen",
        "Please switch {setting} off and return to the home screen",
        "I do not want {setting} any more. Disable it, then show me the home screen",
        "Go to the settings, turn off {setting} and go home again",
    )
    wanted = False


@dataclass(frozen=True)
class TurnTwo(Template):
    name = "settings.turn_two"
    apps = ("Settings",)
    difficulty = "hard"
    phrasings = (
        "Turn on {first} and turn off {second}, then go to the home screen",
        "In the settings, switch {second} off and {first} on. Go home afterwards",
        "I want {first} to be on, but {second} to be off. Finish on the home screen",
    )
    touches = (SystemSettings,)
    held_out = True
    first: str = parameter(SWITCH_NAMES)
    second: str = parameter(SWITCH_NAMES)

    def sensible(self) -> bool:
        pages = [SWITCHES[setting].page for setting in (self.first, self.second)]
        near = len(path_to(pages[0])) + len(path_to(pages[1])) <= 3
        simple = not {self.first, self.second} & {"airplane_mode", "hotspot", "wifi"}
        return near and simple and pages[0] != pages[1]

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        switch(facts, self.first, False)
        switch(facts, self.second, True)

    def missing(self, start: View, end: View) -> str | None:
        wrong = settings_missing(start, end, {self.first: True, self.second: False})
        return wrong or not_at_home(end)

    def solve(self, start: View) -> Iterable[Move]:
        for setting, on in ((self.first, True), (self.second, False)):
            entry = SWITCHES[setting]
            if setting == self.first:
                yield Open("Settings")
            else:
                yield from (Press("Navigate up") for _ in path_to(SWITCHES[self.first].page))
            yield from (Press(title, role="row") for title in path_to(entry.page))
            yield Toggle(entry.label, on)
        yield GoHome()


@dataclass(frozen=True)
class QuickOn(Template):
    name = "settings.quick_on"
    apps = ("Settings",)
    difficulty = "easy"
    phrasings = (
        "Turn on {tile} from the quick settings",
        "Pull down the quick settings and switch on {tile}",
        "Use the quick settings to enable {tile}",
    )
    touches = (SystemSettings,)
    wanted = True
    tile: str = parameter(TILE_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        switch(facts, self.tile, not self.wanted)

    def missing(self, start: View, end: View) -> str | None:
        return settings_missing(start, end, {self.tile: self.wanted}, LINKED.get(self.tile, ()))

    def solve(self, start: View) -> Iterable[Move]:
        yield PullShade()
        yield Toggle(TILES[self.tile], self.wanted)


@dataclass(frozen=True)
class QuickOff(QuickOn):
    name = "settings.quick_off"
    phrasings = (
        "Turn off {tile} from the quick settings",
        "Pull down the quick settings and switch off {tile}",
        "Use the quick settings to disable {tile}",
    )
    wanted = False


@dataclass(frozen=True)
class SetBrightness(Template):
    name = "settings.brightness"
    apps = ("Settings",)
    difficulty = "easy"
    phrasings = (
        "Set the screen brightness to about {percent}",
        "Please bring the screen brightness to {percent}, more or less",
        "Change the brightness to roughly {percent}",
    )
    touches = (SystemSettings,)
    percent: int = parameter(PERCENTS)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.change(SystemSettings, brightness=far_from(self.percent / 100, rng))

    def missing(self, start: View, end: View) -> str | None:
        return levels_missing(start, end, {"brightness": self.percent / 100})

    def solve(self, start: View) -> Iterable[Move]:
        yield PullShade()
        yield Slide("Brightness", self.percent / 100)


@dataclass(frozen=True)
class SetVolume(Template):
    name = "settings.volume"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        "Set the {first} to about {percent} and the {second} to about {other}",
        "Change my {first} to {percent}, more or less, and the {second} to {other}",
        "I want the {first} at about {percent}, and the {second} at about {other}",
    )
    touches = (SystemSettings,)
    volumes: tuple[str, str] = parameter(VOLUME_PAIRS)
    percent: int = parameter(PERCENTS)
    other: int = parameter(PERCENTS)

    def words(self) -> dict[str, str]:
        first, second = (VOLUMES[name].lower() for name in self.volumes)
        percent, other = PERCENTS.say(self.percent), PERCENTS.say(self.other)
        return {"first": first, "second": second, "percent": percent, "other": other}

    def wanted(self) -> dict[str, float]:
        return {self.volumes[0]: self.percent / 100, self.volumes[1]: self.other / 100}

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        far = {name: far_from(share, rng) for name, share in self.wanted().items()}
        facts.change(SystemSettings, **far)

    def missing(self, start: View, end: View) -> str | None:
        return levels_missing(start, end, self.wanted())

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("sound")
        for name, share in self.wanted().items():
            yield Slide(VOLUMES[name], share)


TEMPLATES: tuple[type[Template], ...] = (
    TurnOn,
    TurnOff,
    TurnTwo,
    QuickOn,
    QuickOff,
    SetBrightness,
    SetVolume,
)
