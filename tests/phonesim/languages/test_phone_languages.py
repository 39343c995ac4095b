"""A phone in another language: what it shows, what it keeps, and that scripts and judges follow."""

from __future__ import annotations

import random

import pytest

from distrl.episodes.demonstrations import demonstrate
from distrl.errors import InvalidSetting
from distrl.records import Ending, OpenApp
from phonesim import world
from phonesim.apps.everyday import (
    EVERYDAY_APPS,
    chat,
    chat_groups,
    chat_person,
    feed,
    feed_people,
    feed_writing,
    food,
    install,
    travel,
    travel_booking,
    travel_trips,
    wallet,
)
from phonesim.apps.settings_pages.catalogue import CHOICES, PAGES, SWITCHES, VOLUMES
from phonesim.contents.everyday import journeys, meals, news, posts
from phonesim.contents.small_talk import REPLIES, SERVICES
from phonesim.drift import NO_DRIFT, Drift
from phonesim.finger import Finger
from phonesim.languages.language import FOLDERS, language
from phonesim.phone import Phone
from phonesim.simulated_device import SimulatedDevice
from phonesim.snapshot import from_bytes, to_bytes
from phonesim.system import InstalledApp, Notification, SystemSettings
from phonesim.system_ui.heads_up import OWN_TEXTS
from phonesim.tasks.task_sets import load_task, splits_of, template_names, templates

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


@pytest.mark.parametrize("name", OTHERS)
def test_what_everyday_apps_say_through_variables_has_a_word(name: str) -> None:
    tables = (
        chat.TABS, chat_groups.WALLPAPERS, chat_person.SOUNDS.values(),
        chat_person.PRIVACY.values(), feed.TABS, feed_people.SWITCHES.values(),
        feed_people.PRIVACY.values(), feed_writing.REASONS, posts.AUDIENCES,
        [scene.capitalize() for scene in posts.SCENES], food.SWITCHES.values(),
        food.VOUCHERS.values(), meals.CUISINES, meals.STATES, meals.COMPLAINTS,
        travel.SWITCHES.values(), travel.OFFERS, travel.QUESTIONS, travel.QUESTIONS.values(),
        travel_booking.ORDERS, travel_booking.STOPS, travel_trips.TABS,
        [journeys.WINDOW, journeys.AISLE], wallet.SWITCHES.values(), wallet.WRONGS,
        wallet.WEEKS, wallet.QUESTIONS, wallet.QUESTIONS.values(),
        [app.name for app in EVERYDAY_APPS], REPLIES, [text for _, text in SERVICES],
        world.ORDER_NEWS.values(), [said.text for said in news.CHATTER], news.COMMENTS,
        [asker.note for asker in news.ASKERS],
    )  # fmt: skip
    words = language(name).words
    assert {text for table in tables for text in table if text not in words} == set()


@pytest.mark.parametrize("name", OTHERS)
def test_the_shade_says_in_its_language_what_apps_wrote_and_leaves_what_people_wrote(
    name: str,
) -> None:
    phone, words = speaking(name), language(name).words
    assert set(OWN_TEXTS) <= words.keys()
    phone.facts.remove_where(Notification, lambda _: True)
    phone.facts.add(Notification(0, "Store", "Updates available", "4 apps can be updated"))
    phone.facts.add(Notification(0, "Messages", "Ana", "Shall we meet at 5?"))
    phone.show_overlay("shade")
    shown = {element.detail for element in phone.elements()}
    translated = words["{count} apps can be updated"].format(count=4)
    assert {translated, "Shall we meet at 5?"} <= shown
    assert phone.facts.all(Notification)[0].text == "4 apps can be updated"


def test_an_everyday_app_speaks_the_language_of_its_phone() -> None:
    phone = speaking("German")
    install(phone.facts, random.Random(1))
    phone.perform(OpenApp("Geldbörse"))
    finger = Finger(phone)
    assert phone.state.front == "Wallet"
    assert finger.sees("Kontostand")
    assert any(element.value.endswith(" $") for element in phone.elements())
    finger.tap("Rechnungen")
    assert any("Fällig: " in element.detail for element in phone.elements())


def succeed(task_name: str, speaks: str) -> bool:
    task, _ = load_task(task_name)
    device = SimulatedDevice("phone", Drift(languages=(speaks,)))
    return demonstrate(task, device).ending is Ending.SUCCESS


@pytest.mark.parametrize("speaks", OTHERS)
def test_scripts_and_judges_follow_into_other_languages(speaks: str) -> None:
    for task in (
        "settings.language/train/0", "settings.ask_identity/train/0", "settings.quick_on/train/0",
        "wallet.send_with_code/high_stakes/0", "food.complain/train/0",
    ):  # fmt: skip
        assert succeed(task, speaks), task


@pytest.mark.slow
@pytest.mark.parametrize("speaks", OTHERS)
def test_every_template_succeeds_in_every_language(speaks: str) -> None:
    failed = [t for t in template_names("train") if not succeed(f"{t}/train/0", speaks)]
    everyday = [name for name, each in templates().items() if each.family == "everyday"]
    tasks = [f"{name}/{splits_of(templates()[name])[0]}/0" for name in everyday]
    assert failed + [task for task in tasks if not succeed(task, speaks)] == []
