"""Tasks in Settings that choose one of several options: tones, pictures, colours, a language."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from phonesim.apps.settings_pages.catalogue import (
    CHOICES,
    LANGUAGES,
    TIMEOUTS,
    TONES,
)
from phonesim.drawing.theme import ACCENTS
from phonesim.drift import WALLPAPERS
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.settings import settings_missing, to_page
from phonesim.tasks.moves import Move, Press
from phonesim.tasks.template import Template, View

TONE_NAMES = Domain("tones", TONES)
WALLPAPER_NAMES = Domain("wallpapers", WALLPAPERS, say=str.title)
ACCENT_NAMES = Domain("accents", tuple(ACCENTS))
TIMEOUT_MINUTES = Domain("screen timeouts", TIMEOUTS, say=lambda m: f"{m} minute{'s' * (m > 1)}")
LANGUAGE_NAMES = Domain(  # Chinese was added later; with it, tasks would draw other languages
    "languages", tuple(name for name in LANGUAGES if name not in ("English", "Chinese"))
)


class ChooseTemplate(Template):
    """Base class: choose one of several options. `setting` is the setting, `value` the option."""

    apps = ("Settings",)
    difficulty = "medium"
    touches = (SystemSettings,)
    setting: ClassVar[str]

    @property
    def value(self) -> str | int | float:
        raise NotImplementedError

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        others = [v for v in CHOICES[self.setting].options.values() if v != self.value]
        if getattr(facts.one(SystemSettings), self.setting) == self.value:
            facts.change(SystemSettings, **{self.setting: rng.choice(others)})

    def missing(self, start: View, end: View) -> str | None:
        return settings_missing(start, end, {self.setting: self.value})

    def solve(self, start: View) -> Iterable[Move]:
        entry = CHOICES[self.setting]
        yield from to_page(entry.page)
        if entry.page not in ("wallpapers", "accents"):
            yield Press(entry.label, role="row")
        yield Press(entry.shown(self.value))


@dataclass(frozen=True)
class SetRingtone(ChooseTemplate):
    name = "settings.ringtone"
    phrasings = (
        "Change the ringtone to {tone}",
        "Make {tone} my ringtone",
        "When somebody calls, I want to hear the tone {tone}",
    )
    setting = "ringtone"
    tone: str = parameter(TONE_NAMES)

    @property
    def value(self) -> str:
        return self.tone


@dataclass(frozen=True)
class SetAlarmSound(SetRingtone):
    name = "settings.alarm_sound"
    phrasings = (
        "Set the alarm sound to {tone}",
        "Use {tone} as the sound of my alarms",
        "I would like alarms to play {tone}",
    )
    held_out = True
    setting = "alarm_sound"


@dataclass(frozen=True)
class SetNotificationSound(SetRingtone):
    name = "settings.notification_sound"
    phrasings = (
        "Set the notification sound to {tone}",
        "Play {tone} for notifications",
        "Change the sound of notifications to {tone}, please",
    )
    setting = "notification_sound"


@dataclass(frozen=True)
class SetWallpaper(ChooseTemplate):
    name = "settings.wallpaper"
    phrasings = (
        "Change the wallpaper to {picture}",
        "Set {picture} as my wallpaper",
        "I would like to see the wallpaper {picture} on my home screen",
    )
    setting = "wallpaper"
    picture: str = parameter(WALLPAPER_NAMES)

    @property
    def value(self) -> str:
        return self.picture


@dataclass(frozen=True)
class SetAccent(ChooseTemplate):
    name = "settings.accent"
    phrasings = (
        "Change the accent colour to {color}",
        "Make {color} the accent colour of my phone",
        "I want {color} buttons: set the accent colour",
    )
    setting = "accent"
    color: str = parameter(ACCENT_NAMES)

    @property
    def value(self) -> str:
        return self.color


@dataclass(frozen=True)
class SetTimeout(ChooseTemplate):
    name = "settings.screen_timeout"
    phrasings = (
        "Set the screen timeout to {minutes}",
        "Keep the screen on for {minutes} before it goes dark",
        "The screen should turn off after {minutes}",
    )
    setting = "screen_timeout_minutes"
    minutes: int = parameter(TIMEOUT_MINUTES)

    @property
    def value(self) -> int:
        return self.minutes


@dataclass(frozen=True)
class SetLanguage(ChooseTemplate):
    name = "settings.language"
    phrasings = (
        "Change the phone's language to {language}",
        "Set {language} as the system language",
        "I am learning {language}: switch my phone to it",
    )
    setting = "language"
    language: str = parameter(LANGUAGE_NAMES)

    @property
    def value(self) -> str:
        return self.language


TEMPLATES: tuple[type[Template], ...] = (
    SetRingtone,
    SetAlarmSound,
    SetNotificationSound,
    SetWallpaper,
    SetAccent,
    SetTimeout,
    SetLanguage,
)
