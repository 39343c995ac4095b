"""Unsolicited dialogs: permissions, ratings, updates, promotions, warnings.

They appear at the drift's rate, on top of everything, and close when one of their buttons or Back
is pressed. Some of their offers have consequences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from phonesim.dimensions import NAVIGATION, STATUS
from phonesim.scene import Handler, Scene
from phonesim.state import LAUNCHER
from phonesim.system import InstalledApp, SystemSettings
from phonesim.system_ui import ringing
from phonesim.toolkit.controls import Button
from phonesim.toolkit.modals import Dialog
from phonesim.toolkit.texts import Text

if TYPE_CHECKING:
    from phonesim.phone import Phone

Effect = Callable[["Phone", str], None]


@dataclass(frozen=True, slots=True)
class Popup:
    """An unsolicited dialog. `{app}` in its texts is the app in front."""

    title: str
    text: str
    decline: str
    accept: str
    effect: Effect


def _allow_location(phone: Phone, app: str) -> None:
    installed = phone.facts.find(InstalledApp, lambda a: a.name == app)
    if installed:
        phone.facts.edit(installed, location=True)


def _update(phone: Phone, app: str) -> None:
    installed = phone.facts.find(InstalledApp, lambda a: a.name == app)
    if installed:
        phone.facts.edit(installed, version=installed.version + 1)


def _rate(phone: Phone, app: str) -> None:
    phone.say(phone.language.tr("Thanks for rating {app}", app=phone.language.tr(app)))


def _promote(phone: Phone, _app: str) -> None:
    phone.launch("Browser")


def _save_battery(phone: Phone, _app: str) -> None:
    phone.facts.change(SystemSettings, battery_saver=True)


def _nothing(phone: Phone, app: str) -> None:
    pass


POPUPS: dict[str, Popup] = {
    "permission": Popup(
        "Allow {app} to access this device's location?", "", "Deny", "Allow", _allow_location
    ),
    "rating": Popup(
        "Enjoying {app}?", "Tell others what you think of it.", "Not now", "Rate", _rate
    ),
    "update": Popup(
        "Update available", "A new version of {app} is ready.", "Later", "Update", _update
    ),
    "promotion": Popup(
        "Today only: 20% off",
        "See this week's offers in the shops.",
        "No thanks",
        "Shop now",
        _promote,
    ),
    "battery": Popup(
        "Battery is getting low", "Turn on battery saver?", "Dismiss", "Turn on", _save_battery
    ),
}
CRASH = Popup("{app} keeps stopping", "The app was closed.", "Close app", "App info", _nothing)
DECLINES = ringing.DECLINES | {CRASH.decline, *(popup.decline for popup in POPUPS.values())}


def choose(share: float) -> str:
    return list(POPUPS)[int(share * len(POPUPS))]


def place(scene: Scene, phone: Phone, name: str) -> None:
    kind, _, app = name.partition(":")
    app = app or (phone.state.front if phone.state.front != LAUNCHER else "Phone")
    popup = CRASH if kind == "crash" else POPUPS[kind]

    def choosing(effect: Effect) -> Handler:
        def choose_it() -> None:
            phone.show_popup(None)
            effect(phone, app)

        return choose_it

    tr = phone.language.tr
    text = tr(popup.text, app=tr(app)) if popup.text else ""
    dialog = Dialog(
        title=tr(popup.title, app=tr(app)),
        body=[Text(text, "body", "muted")] if text else [],
        buttons=[
            Button(tr(popup.decline), choosing(_nothing), "plain"),
            Button(tr(popup.accept), choosing(popup.effect), "filled"),
        ],
        on_close=None,
        window="popup",
    )
    width, height = scene.canvas.width, scene.canvas.height
    dialog.place(scene, 0, STATUS, width, height - NAVIGATION - STATUS)
