"""Questions that Settings answers: current values, and the identity of the phone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps.settings import MODELS
from phonesim.apps.settings_pages.catalogue import CHOICES, LANGUAGES, VOLUMES
from phonesim.apps.settings_pages.networks import WifiNetwork
from phonesim.apps.settings_pages.phone_itself import DeviceIdentity
from phonesim.facts import Facts
from phonesim.system import SystemSettings
from phonesim.tasks.answers import mentions, numbers_in, states_number
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.people import answers_number
from phonesim.tasks.general.settings import PERCENTS, to_page
from phonesim.tasks.general.settings_connections import NETWORK_NAMES
from phonesim.tasks.moves import Move, Reveal, Say
from phonesim.tasks.template import Template, View

IDENTITY = {
    "phone_number": "phone number", "network_operator": "network operator", "model": "model",
    "serial_number": "serial number", "wifi_address": "Wi-Fi address",
    "system_version": "system version", "build_number": "build number",
}  # fmt: skip
IDENTITY_NAMES = Domain("identity", tuple(IDENTITY), say=IDENTITY.__getitem__)
ASKED = {  # setting: how it is asked for
    "ringtone": "ringtone", "notification_sound": "notification sound",
    "alarm_sound": "alarm sound", "language": "language",
    "timezone": "time zone", "screen_timeout_minutes": "screen timeout", "font_scale": "font size",
}  # fmt: skip
LEVELS = {"brightness": "screen brightness"} | {key: VOLUMES[key].lower() for key in VOLUMES}
LEVEL_NAMES = Domain("levels", tuple(LEVELS), say=LEVELS.__getitem__)
ASKED_NAMES = Domain("asked settings", tuple(ASKED), say=ASKED.__getitem__)


@dataclass(frozen=True)
class AskIdentity(Template):
    name = "settings.ask_identity"
    apps = ("Settings",)
    difficulty = "easy"
    phrasings = (
        "What is the {item} of this phone?",
        "Look up the {item} in the settings and tell me",
        "I need my phone's {item}. What is it?",
    )
    item: str = parameter(IDENTITY_NAMES)

    def missing(self, start: View, end: View) -> str | None:
        identity = start.one(DeviceIdentity)
        value = str(getattr(identity, self.item))
        if self.item == "phone_number" and answers_number(end.answer, value):
            return None
        others = [str(getattr(identity, item)) for item in IDENTITY if item != self.item]
        if mentions(end.answer, value, [*others, *MODELS]):
            return None
        return f"the {IDENTITY[self.item]} is {value}; the answer: {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        label = IDENTITY[self.item]
        yield from to_page("about")
        yield Reveal(label[0].upper() + label[1:])
        yield Say(str(getattr(start.one(DeviceIdentity), self.item)))


@dataclass(frozen=True)
class AskSetting(Template):
    name = "settings.ask_setting"
    apps = ("Settings",)
    difficulty = "easy"
    phrasings = (
        "Which {item} is set on this phone?",
        "What {item} do I have at the moment?",
        "Check the settings: what is the current {item}?",
    )
    held_out = True
    item: str = parameter(ASKED_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        options = [v for v in CHOICES[self.item].options.values() if v != "Chinese"]
        facts.change(SystemSettings, **{self.item: rng.choice(options)})

    def answer(self, view: View) -> str:
        return CHOICES[self.item].shown(getattr(view.one(SystemSettings), self.item))

    def missing(self, start: View, end: View) -> str | None:
        answer = self.answer(start)
        if mentions(end.answer, answer, CHOICES[self.item].options):
            return None
        if self.item == "language" and mentions(end.answer, LANGUAGES[answer], LANGUAGES.values()):
            return None  # the language's name as the phone shows it
        figures = numbers_in(answer)
        if len(figures) == 1 and states_number(end.answer, figures[0]):
            return None
        return f"it is {self.answer(start)}; the answer: {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        entry = CHOICES[self.item]
        yield from to_page(entry.page)
        yield Reveal(entry.label)
        yield Say(self.answer(start))


@dataclass(frozen=True)
class AskLevel(Template):
    name = "settings.ask_level"
    apps = ("Settings",)
    difficulty = "easy"
    phrasings = (
        "What is the {level} set to, in percent?",
        "At what percentage is my {level}?",
        "Check the {level} and tell me the percentage",
    )
    held_out = True
    level: str = parameter(LEVEL_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        percent = rng.choice((*PERCENTS.train, *PERCENTS.test)) + rng.randrange(5)
        facts.change(SystemSettings, **{self.level: min(percent, 99) / 100})

    def missing(self, start: View, end: View) -> str | None:
        percent = round(float(getattr(start.one(SystemSettings), self.level)) * 100)
        right = states_number(end.answer, percent)
        return None if right else f"it is at {percent} %; the answer: {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("display" if self.level == "brightness" else "sound")
        yield Say(f"{float(getattr(start.one(SystemSettings), self.level)):.0%}")


@dataclass(frozen=True)
class AskNetwork(Template):
    name = "settings.ask_network"
    apps = ("Settings",)
    difficulty = "easy"
    phrasings = (
        "Which Wi-Fi network am I connected to? I thought it was {guess}",
        "Am I on the Wi-Fi network {guess}? Tell me the name of the one in use",
        "{guess} is not working. What is the Wi-Fi network that my phone uses right now?",
    )
    guess: str = parameter(NETWORK_NAMES)

    def missing(self, start: View, end: View) -> str | None:
        name = start.one(SystemSettings).wifi_network
        others = [network.name for network in start.all(WifiNetwork)]
        right = mentions(end.answer, name, others)
        return None if right else f"it is {name}; the answer: {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("network")
        yield Say(start.one(SystemSettings).wifi_network)


TEMPLATES: tuple[type[Template], ...] = (AskIdentity, AskSetting, AskLevel, AskNetwork)
