"""The initial state of a phone, which depends only on its seed, drift and display."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache

from distrl import plugins
from distrl.errors import InvalidSetting
from phonesim.apps import APPS
from phonesim.apps.everyday import EVERYDAY_APPS
from phonesim.display import STANDARD, Display
from phonesim.drift import Drift, dress
from phonesim.facts import Facts
from phonesim.state import LAUNCHER, PhoneState, Route
from phonesim.system import InstalledApp, SystemSettings


def new_state(seed: int, drift: Drift, display: Display = STANDARD) -> PhoneState:
    """Return a new phone's state: facts by its apps, look by its drift. It may be shared."""
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InvalidSetting(f"phone seed={seed!r}; give a whole number from 0 upwards")
    state = _new_state(seed, drift, plugins.generation("app"))
    return state if display == STANDARD else replace(state, display=display)


@lru_cache(maxsize=256)
def _new_state(seed: int, drift: Drift, _generation: int) -> PhoneState:
    rng = random.Random(f"phone/{seed}")
    now = datetime(2026, 1, 5, 8, 0) + timedelta(minutes=rng.randrange(60 * 24 * 300))
    facts = Facts()
    facts.add(SystemSettings(battery_percent=rng.randrange(20, 100)))
    for place, app in enumerate(app for app in APPS.values() if app.preinstalled):
        facts.add(InstalledApp(name=app.name, place=place))
    dress(facts, seed, drift)
    for app in APPS.values():
        if app in EVERYDAY_APPS:
            continue  # they come with a task; a phone without them stays as it was
        app.furnish(facts, random.Random(f"{app.name}/{seed}"), now)
    return PhoneState(seed, drift, facts, now, running={LAUNCHER: (Route("home"),)})
