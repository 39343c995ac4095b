"""The app Store and the small apps that come from it, by taps."""

from __future__ import annotations

import pytest

from distrl.devices.simulated.app import App
from distrl.devices.simulated.apps import APPS
from distrl.devices.simulated.apps.extras import EXTRAS, Favourite, Recording
from distrl.devices.simulated.apps.listings import CATEGORIES, OFFERS, Listing, install
from distrl.devices.simulated.drift import NO_DRIFT
from distrl.devices.simulated.phone import Phone
from distrl.devices.simulated.system import InstalledApp
from distrl.records import FINAL_ACTIONS, Home, OpenApp, Wait
from distrl.tasks.moves import Fill, GoBack, Move, Open, Press
from distrl.tasks.solver import Solver


def use(phone: Phone, *moves: Move) -> None:
    """Carry out the moves as a person would, by what the screen shows."""
    solver = Solver(moves)
    while not isinstance(action := solver.next(phone.elements()), FINAL_ACTIONS):
        phone.perform(action)


def labels(phone: Phone) -> set[str]:
    return {element.text for element in phone.elements()}


@pytest.fixture
def phone() -> Phone:
    phone = Phone(1, NO_DRIFT)
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


def test_an_installed_app_stands_on_the_home_screen_and_opens(phone: Phone) -> None:
    use(phone, Fill("Search apps", "Chess"), Press("Chess", "row"), Press("Install"))
    app = installed(phone, "Chess")
    assert app is not None
    assert app.place == max(each.place for each in phone.facts.all(InstalledApp))
    phone.perform(Home())
    use(phone, Open("Chess"))
    assert phone.state.front == "Chess"


def test_an_uninstalled_app_is_gone_and_stopped(phone: Phone) -> None:
    install(phone.facts, "Brew", 1, 20)
    phone.perform(OpenApp("Brew"))
    phone.perform(OpenApp("Store"))
    use(phone, Fill("Search apps", "Brew"), Press("Brew", "row"))
    use(phone, Press("Uninstall"), Press("Uninstall"))
    assert installed(phone, "Brew") is None
    assert "Brew" not in phone.state.running
    assert "Install" in labels(phone)
    phone.perform(OpenApp("Brew"))
    assert phone.state.front == "Store"


def test_one_update_and_then_all(phone: Phone) -> None:
    install(phone.facts, "Yoga", 1, 20)
    install(phone.facts, "Radio", 1, 20)
    for listing in phone.facts.all(Listing):
        phone.facts.edit(listing, version=2)
    phone.refresh()
    use(phone, Press("My apps", "tab"), Press("Update Yoga"))
    yoga, radio = installed(phone, "Yoga"), installed(phone, "Radio")
    assert (yoga and yoga.version, radio and radio.version) == (2, 1)
    use(phone, Press("Update all"))
    assert all(app.version == 2 for app in phone.facts.all(InstalledApp))
    assert "Update all" not in labels(phone)


def test_ratings_differ_within_a_category() -> None:
    for seed in range(20):
        ratings = {li.name: li.rating for li in Phone(seed).facts.all(Listing)}
        for category in CATEGORIES:
            found = [ratings[offer.name] for offer in OFFERS if offer.category == category]
            assert len(found) == len(set(found)) == 3


@pytest.mark.parametrize("app", EXTRAS, ids=lambda app: app.name)
def test_every_small_app_opens_and_does_something(phone: Phone, app: App) -> None:
    name = app.name
    install(phone.facts, name, 1, 20)
    phone.perform(OpenApp(name))
    if name == "Recorder":
        before = len(phone.facts.all(Recording))
        use(phone, Press("Record"))
        phone.perform(Wait(20))
        use(phone, Press("Stop recording"))
        assert len(phone.facts.all(Recording)) == before + 1
        assert phone.facts.all(Recording)[-1].seconds >= 20
        return
    first = next(element.text for element in phone.elements() if element.role == "row")
    use(phone, Press(first), Press("Add to favourites"), GoBack())
    (favourite,) = phone.facts.all(Favourite)
    assert (favourite.app, favourite.title) == (name, first)
