"""Changes of a phone by the world: facts that are added or changed without an action.

`world` and `everyday_events` add and change facts only through these functions, so that the phone's
state lists every such change (`arrived`, `moved`) and judges can ignore it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from phonesim.facts import R
from phonesim.system import InstalledApp, Notification, SystemSettings, offline

if TYPE_CHECKING:
    from phonesim.phone import Phone

Event: TypeAlias = "Callable[[Phone, random.Random], None]"
TICK = 5  # seconds of the phone's clock
EPOCH = datetime(2000, 1, 1)


def tick(moment: datetime) -> int:
    return int((moment - EPOCH).total_seconds()) // TICK


def arrive(phone: Phone, record: R) -> R:
    """Add a record that no action caused."""
    stored = phone.facts.add(record)
    phone.update(arrived=(*phone.state.arrived, stored.id))
    return stored


def move(phone: Phone, record: Any, **fields: Any) -> None:
    """Change a record without an action as its cause."""
    phone.facts.edit(record, **fields)
    moved = dict.fromkeys((*phone.state.moved, *((record.id, name) for name in fields)))
    phone.update(moved=tuple(moved))


def notify(phone: Phone, app: str, title: str, text: str) -> None:
    """Put a notification into the shade; it shows at the top if nothing else is in the way."""
    installed = phone.facts.find(InstalledApp, lambda each: each.name == app)
    if installed is None or not installed.notifications:
        return
    note = arrive(phone, Notification(0, app, title, text))
    busy = phone.state.popup or phone.state.overlay or phone.state.asleep
    if not busy and not phone.facts.one(SystemSettings).do_not_disturb:
        phone.update(heads_up=note.id)


def is_offline(phone: Phone) -> bool:
    return offline(phone.facts.one(SystemSettings))
