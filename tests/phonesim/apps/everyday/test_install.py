"""The everyday apps come with a task; a phone without them is what it always was."""

from __future__ import annotations

import inspect
import random

import pytest

from distrl.records import Back, OpenApp, Tap, TypeText
from phonesim.app import App
from phonesim.apps.everyday import EVERYDAY_APPS, install
from phonesim.apps.page_names import page_names
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.drift import NO_DRIFT, Drift
from phonesim.phone import Phone
from phonesim.snapshot import from_bytes, to_bytes
from phonesim.system import InstalledApp

NAMES = [app.name for app in EVERYDAY_APPS]
TYPED = ("", "12.50", "0", "naïve", "9" * 30, "Oslo", "😀")


def everyday_phone(seed: int, drift: Drift = NO_DRIFT) -> Phone:
    phone = Phone(seed, drift)
    install(phone.facts, random.Random(seed))
    phone.refresh()
    return phone


def test_a_new_phone_has_none_of_them() -> None:
    phone = Phone(1, NO_DRIFT)
    assert not {app.name for app in phone.facts.all(InstalledApp)} & set(NAMES)
    kinds = {kind for app in EVERYDAY_APPS for kind in app.kinds}
    assert not kinds & set(phone.facts.kinds())


def test_they_stand_behind_the_icons_that_are_there() -> None:
    before = Phone(1, NO_DRIFT).facts.all(InstalledApp)
    after = everyday_phone(1).facts.all(InstalledApp)
    assert after[: len(before)] == before
    assert [app.name for app in after[len(before) :]] == NAMES
    assert min(app.place for app in after[len(before) :]) > max(app.place for app in before)


def test_installing_twice_is_as_good_as_once() -> None:
    phone = everyday_phone(2)
    once = dict(phone.facts.tables())
    install(phone.facts, random.Random("again"))
    assert dict(phone.facts.tables()) == once


def test_each_has_at_least_twenty_pages() -> None:
    """Full ones: a dialog, a sheet or a menu is none."""
    for app in EVERYDAY_APPS:
        full = [name for name in page_names(app) if not _is_modal(app, name)]
        assert len(full) >= 20, (app.name, full)
        assert "home" in full


def _is_modal(app: App, page: str) -> bool:
    source = inspect.getsource(getattr(type(app), page))
    return any(f"ui.{kind}(" in source for kind in ("dialog", "sheet", "menu"))


@pytest.mark.seeds(1, 40)
def test_no_action_breaks_them_and_every_page_survives_a_snapshot(seed: int) -> None:
    phone, draw = everyday_phone(seed, Drift(popup_rate=0.02)), random.Random(seed)
    for number in range(120):
        touchable = [e for e in phone.elements() if e.clickable and e.window != "system"]
        if phone.state.front not in NAMES or draw.random() < 0.05:
            phone.perform(OpenApp(draw.choice(NAMES)))
        elif phone.state.focus and draw.random() < 0.5:
            phone.perform(TypeText(draw.choice(TYPED)))
        elif touchable and draw.random() < 0.95:
            x, y = draw.choice(touchable).centre
            phone.perform(Tap((x + 0.5) / WIDTH, (y + 0.5) / HEIGHT))
        else:
            phone.perform(Back())
        if number % 10 == 0:
            state = from_bytes(to_bytes(phone.snapshot()))
            assert to_bytes(state) == to_bytes(phone.snapshot()), phone.routes[-1].page
