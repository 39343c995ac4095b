"""Windows on top of everything until answered: alarms, timers, calls (`world` starts them)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from phonesim import world
from phonesim.contents.calls import Call
from phonesim.contents.people import caller, names_by_number
from phonesim.contents.timepieces import Alarm, Timer, figures, time_text
from phonesim.dimensions import NAVIGATION, STATUS
from phonesim.facts import MissingFact
from phonesim.scene import Handler, Scene
from phonesim.state import Route
from phonesim.system import SystemSettings
from phonesim.toolkit.controls import Button
from phonesim.toolkit.modals import Dialog
from phonesim.toolkit.texts import Text

if TYPE_CHECKING:
    from phonesim.phone import Phone

KINDS = frozenset({"alarm", "timer", "call"})
ONE_MORE = timedelta(minutes=1)
DECLINES = frozenset({"Dismiss", "Decline"})


@dataclass(frozen=True, slots=True)
class Ring:
    """Texts and actions of a ringing window."""

    title: str
    text: str
    decline: str
    accept: str
    on_accept: Handler


def rings(popup: str) -> bool:
    """Return whether a pop-up's name is "KIND:ID" with one of `KINDS` and the id of its record."""
    kind, _, about = popup.partition(":")
    return kind in KINDS and about.isascii() and about.isdecimal()


def place(scene: Scene, phone: Phone, name: str) -> None:
    ring, tr = _ring(phone, name), phone.language.tr

    def choosing(act: Handler | None) -> Handler:
        def choose() -> None:
            phone.show_popup(None)
            if act:
                act()

        return choose

    dialog = Dialog(
        title=tr(ring.title),
        body=[Text(ring.text, "headline")],
        buttons=[
            Button(tr(ring.decline), choosing(None), "plain"),
            Button(tr(ring.accept), choosing(ring.on_accept), "filled"),
        ],
        on_close=None,
        window="popup",
    )
    width, height = scene.canvas.width, scene.canvas.height
    dialog.place(scene, 0, STATUS, width, height - NAVIGATION - STATUS)


def _ring(phone: Phone, name: str) -> Ring:
    """Return what rings; "It is over" if its record was deleted meanwhile."""
    kind, _, number = name.partition(":")
    about = int(number)
    try:
        return {"alarm": _alarm, "timer": _timer, "call": _call}[kind](phone, about)
    except MissingFact:
        return Ring(
            kind.capitalize(), phone.language.tr("It is over"), "Dismiss", "OK", lambda: None
        )


def _alarm(phone: Phone, about: int) -> Ring:
    alarm = phone.facts.get(Alarm, about)
    use_24_hour = phone.facts.one(SystemSettings).use_24_hour
    time = time_text(alarm.hour, alarm.minute, use_24_hour)
    text = f"{time} {alarm.label}".strip()
    return Ring("Alarm", text, "Dismiss", "Snooze", lambda: world.snooze(phone, about))


def _timer(phone: Phone, about: int) -> Ring:
    timer = phone.facts.get(Timer, about)

    def add_a_minute() -> None:
        phone.facts.edit(timer, ends=phone.now + ONE_MORE)

    return Ring("Time is up", figures(timer.seconds), "Dismiss", "Add 1 minute", add_a_minute)


def _call(phone: Phone, about: int) -> Ring:
    call = phone.facts.get(Call, about)
    name = caller(names_by_number(phone.facts), call.number)

    def answer() -> None:
        phone.facts.edit(call, direction="incoming", ended=False, time=phone.now)
        phone.launch("Phone")
        phone.push(Route("in_call", (call.id,)))

    return Ring("Incoming call", name, "Decline", "Answer", answer)
