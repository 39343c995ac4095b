"""A phone in another language: what it shows, what it keeps, and that scripts and judges follow."""

from __future__ import annotations

import pytest

from distrl.episodes.demonstrations import demonstrate
from distrl.errors import InvalidSetting
from distrl.records import Ending, OpenApp
from phonesim.apps.settings_pages.catalogue import CHOICES, PAGES, SWITCHES, VOLUMES
from phonesim.drift import NO_DRIFT, Drift
from phonesim.finger import Finger
from phonesim.languages.language import FOLDERS, language
from phonesim.phone import Phone
from phonesim.simulated_device import SimulatedDevice
from phonesim.snapshot import from_bytes, to_bytes
from phonesim.system import InstalledApp, SystemSettings
from phonesim.tasks.task_sets import load_task, template_names

OTHERS = [name for name in FOLDERS if name != "English"]


def speaking(name: str, seed: int = 1) -> Phone:
    return Phone(seed, Drift(False, False, False, False, False, False, 0.0, 0.0, (name,)))


def test_an_english_phone_is_as_without_a_choice() -> None:
    assert (speaking("English").frame() == Phone(1, NO_DRIFT).frame()).all()


def test_settings_change_the_language_at_once_and_back() -> None:
    phone = Phone(1, NO_DRIFT)
    finger = Finger(phone)
    before = phone.frame()
    finger.open("Settings")
    for label in ("System", "Language"):
        while not finger.sees(label):
            finger.scroll()
        finger.tap(label)
    finger.tap("German", "row")
    assert phone.facts.one(SystemSettings).language == "German"
    assert finger.sees("Sprache")
    assert finger.sees("Zurück", "button")
    phone.home()
    assert finger.sees("Einstellungen", "app")
    assert finger.sees("Im Web suchen", "field")
    phone.facts.change(SystemSettings, language="English")
    phone.state = phone.snapshot()
    phone.refresh()
    assert phone.frame().shape == before.shape
    assert finger.sees("Settings", "app")


def test_apps_open_by_either_name_and_facts_stay_english() -> None:
    phone = speaking("German")
    for name in ("Uhr", "Clock"):
        phone.home()
        phone.perform(OpenApp(name))
        assert phone.state.front == "Clock"
    assert "Clock" in {app.name for app in phone.facts.all(InstalledApp)}


def test_the_language_comes_with_a_snapshot() -> None:
    phone, other = speaking("Spanish"), Phone(5)
    other.restore(from_bytes(to_bytes(phone.snapshot())))
    assert other.language is language("Spanish")
    assert (other.frame() == phone.frame()).all()


def test_the_seed_draws_among_the_languages() -> None:
    drift = Drift(languages=("English", "German", "Chinese"))
    drawn = {Phone(seed, drift).language.name for seed in range(20)}
    assert drawn == {"English", "German", "Chinese"}
    assert Phone(3, drift).language is Phone(3, drift).language
    with pytest.raises(InvalidSetting, match="German, Spanish"):
        Drift(languages=("Klingon",))


@pytest.mark.parametrize("name", OTHERS)
def test_everything_that_can_be_set_has_a_word(name: str) -> None:
    """The catalogue's labels reach `tr` through variables, which no search for literals finds."""
    texts = [text for page in PAGES.values() for text in (page.title, page.summary)]
    texts += [text for switch in SWITCHES.values() for text in (switch.label, switch.detail)]
    texts += [choice.label for choice in CHOICES.values()] + [*VOLUMES.values()]
    same_in_all = ("ringtone", "notification_sound", "alarm_sound", "timezone")  # proper names
    for setting, choice in CHOICES.items():
        texts += [] if setting in same_in_all else [*choice.options]
    missing = {text for text in texts if text and text not in language(name).words}
    assert missing == set()


def succeed(task_name: str, speaks: str) -> bool:
    task, _ = load_task(task_name)
    device = SimulatedDevice("phone", Drift(languages=(speaks,)))
    return demonstrate(task, device).ending is Ending.SUCCESS


@pytest.mark.parametrize("speaks", OTHERS)
def test_scripts_and_judges_follow_into_other_languages(speaks: str) -> None:
    for template in ("settings.language", "settings.ask_identity", "settings.quick_on"):
        assert succeed(f"{template}/train/0", speaks), template


@pytest.mark.slow
@pytest.mark.parametrize("speaks", OTHERS)
def test_every_template_succeeds_in_every_language(speaks: str) -> None:
    failed = [t for t in template_names("train") if not succeed(f"{t}/train/0", speaks)]
    assert failed == []
