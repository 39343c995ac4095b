"""The app Store and the small apps that come from it, by taps."""

from __future__ import annotations

import pytest
from tests.phonesim.conftest import Use

from distrl.records import Home, OpenApp, Wait
from phonesim.app import App
from phonesim.apps import APPS
from phonesim.apps.extras import EXTRAS, Favourite, Recording
from phonesim.contents.listings import CATEGORIES, OFFERS, Listing, install
from phonesim.finger import Finger
from phonesim.phone import Phone
from phonesim.system import InstalledApp
from phonesim.tasks.moves import Fill, GoBack, Open, Press


@pytest.fixture
def phone(phone: Phone) -> Phone:
    extras = {app.name for app in EXTRAS}
    phone.facts.remove_where(InstalledApp, lambda app: app.name in extras)
    phone.perform(OpenApp("Store"))
    return phone


def installed(phone: Phone, name: str) -> InstalledApp | None:
    return phone.facts.find(InstalledApp, lambda app: app.name == name)


def test_every_offer_is_an_app_that_can_be_removed() -> None:
    assert {offer.name for offer in OFFERS} == {app.name for app in EXTRAS}
    assert all(APPS[offer.name].removable for offer in OFFERS)
    assert not any(APPS[offer.name].preinstalled for offer in OFFERS)
    assert {offer.category for offer in OFFERS} == set(CATEGORIES)


def test_an_installed_app_stands_on_the_home_screen_and_opens(phone: Phone, use: Use) -> None:
    use(Fill("Search apps", "Chess"), Press("Chess", "row"), Press("Install"))
    app = installed(phone, "Chess")
    assert app is not None
    assert app.place == max(each.place for each in phone.facts.all(InstalledApp))
    phone.perform(Home())
    use(Open("Chess"))
    assert phone.state.front == "Chess"


def test_an_uninstalled_app_is_gone_and_stopped(phone: Phone, finger: Finger, use: Use) -> None:
    install(phone.facts, "Brew", 1, 20)
    phone.perform(OpenApp("Brew"))
    phone.perform(OpenApp("Store"))
    use(Fill("Search apps", "Brew"), Press("Brew", "row"))
    use(Press("Uninstall"), Press("Uninstall"))
    assert installed(phone, "Brew") is None
    assert "Brew" not in phone.state.running
    assert "Install" in finger.labels
    phone.perform(OpenApp("Brew"))
    assert phone.state.front == "Store"


def test_one_update_and_then_all(phone: Phone, finger: Finger, use: Use) -> None:
    install(phone.facts, "Yoga", 1, 20)
    install(phone.facts, "Radio", 1, 20)
    for listing in phone.facts.all(Listing):
        phone.facts.edit(listing, version=2)
    phone.refresh()
    use(Press("My apps", "tab"), Press("Update Yoga"))
    yoga, radio = installed(phone, "Yoga"), installed(phone, "Radio")
    assert (yoga and yoga.version, radio and radio.version) == (2, 1)
    use(Press("Update all"))
    assert all(app.version == 2 for app in phone.facts.all(InstalledApp))
    assert "Update all" not in finger.labels


def test_ratings_differ_within_a_category() -> None:
    for seed in range(20):
        ratings = {li.name: li.rating for li in Phone(seed).facts.all(Listing)}
        for category in CATEGORIES:
            found = [ratings[offer.name] for offer in OFFERS if offer.category == category]
            assert len(found) == len(set(found)) == 3


@pytest.mark.parametrize("app", EXTRAS, ids=lambda app: app.name)
def test_every_small_app_opens_and_does_something(phone: Phone, use: Use, app: App) -> None:
    name = app.name
    install(phone.facts, name, 1, 20)
    phone.perform(OpenApp(name))
    if name == "Recorder":
        before = len(phone.facts.all(Recording))
        use(Press("Record"))
        phone.perform(Wait(20))
        use(Press("Stop recording"))
        assert len(phone.facts.all(Recording)) == before + 1
        assert phone.facts.all(Recording)[-1].seconds >= 20
        return
    first = next(element.text for element in phone.elements() if element.role == "row")
    use(Press(first), Press("Add to favourites"), GoBack())
    (favourite,) = phone.facts.all(Favourite)
    assert (favourite.app, favourite.title) == (name, first)
