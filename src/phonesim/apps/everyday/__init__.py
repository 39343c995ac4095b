"""The everyday apps: chat, wallet, travel, feed and food. Only tasks put them on a phone.

`install` adds all of them together, behind the existing icons. A phone without them keeps exactly
the pixels and facts it had before they existed.
"""

from __future__ import annotations

import random

from phonesim.app import App
from phonesim.apps.everyday.chat import ChatApp
from phonesim.apps.everyday.feed import FeedApp
from phonesim.apps.everyday.food import FoodApp
from phonesim.apps.everyday.travel import TravelApp
from phonesim.apps.everyday.wallet import WalletApp
from phonesim.contents.conversations import Message
from phonesim.facts import Facts
from phonesim.system import InstalledApp

EVERYDAY_APPS: tuple[App, ...] = (ChatApp(), WalletApp(), TravelApp(), FeedApp(), FoodApp())


def install(facts: Facts, rng: random.Random) -> None:
    """Add the everyday apps and their facts to a furnished phone; do nothing if they are there."""
    installed = facts.all(InstalledApp)
    if any(app.name == EVERYDAY_APPS[0].name for app in installed):
        return
    lately = max(message.time for message in facts.all(Message))
    versions = [app.version for app in installed]  # all equal if drift is off
    place = max(app.place for app in installed)
    for number, app in enumerate(EVERYDAY_APPS, start=1):
        megabytes = rng.randrange(40, 400)
        version = rng.choice(versions)
        facts.add(InstalledApp(0, app.name, version, place + number, storage_megabytes=megabytes))
        app.furnish(facts, rng, lately)
