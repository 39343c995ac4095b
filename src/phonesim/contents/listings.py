"""The store's data on each app: category, maker, description. Ratings differ between phones."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

from phonesim.facts import Facts
from phonesim.system import InstalledApp, Notification


class Offer(NamedTuple):
    """An app that the store offers."""

    name: str
    category: str
    maker: str
    text: str


CATEGORIES: dict[str, str] = {  # category: icon
    "Tools": "tool",
    "Health": "heart",
    "Food": "food",
    "News and audio": "headset",
    "Games": "game",
    "Money": "wallet",
}
OFFERS: tuple[Offer, ...] = (
    Offer("Recorder", "Tools", "Tin Ear Labs", "Record lectures, ideas and birdsong."),
    Offer("Translator", "Tools", "Babelfield", "Useful phrases in twelve languages."),
    Offer("Compass", "Tools", "North Works", "A needle, four directions, no clutter."),
    Offer("Fitness", "Health", "Fit Parade", "Short exercises without equipment."),
    Offer("Yoga", "Health", "Quiet Mat", "Calm sequences for every morning."),
    Offer("Sleep", "Health", "Pillow Studio", "Rain, trains and wind to fall asleep to."),
    Offer("Recipes", "Food", "Copper Spoon", "Dinner ideas with what is in the house."),
    Offer("Baking", "Food", "Flour Power", "Bread and cakes, step by step."),
    Offer("Brew", "Food", "Slow Pour", "Timers and weights for coffee and tea."),
    Offer("News", "News and audio", "Morning Desk", "The day in short, twice a day."),
    Offer("Podcasts", "News and audio", "Ear to Ear", "Follow shows and listen offline."),
    Offer("Radio", "News and audio", "Longwave", "Stations from near and far."),
    Offer("Chess", "Games", "Sixty-Four", "A puzzle a day, and hints when stuck."),
    Offer("Sudoku", "Games", "Nine by Nine", "Grids from easy to cruel."),
    Offer("Solitaire", "Games", "One Deck", "Four card games for one."),
    Offer("Bank", "Money", "Fenn Savings", "Accounts, cards and standing orders."),
    Offer("Budget", "Money", "Penny Wise", "See where the month went."),
    Offer("Markets", "Money", "Ticker Tape", "Shares at a glance."),
)
OFFER_OF: dict[str, Offer] = {offer.name: offer for offer in OFFERS}


@dataclass(frozen=True, slots=True)
class Listing:
    """An app as this phone's store shows it; `version` is the newest one."""

    id: int = 0
    name: str = ""
    rating: float = 4.0
    reviews: int = 1000
    megabytes: int = 20
    version: int = 1


def furnish_store(facts: Facts, rng: random.Random) -> None:
    """Add the listings, install some of the offered apps, leave some updates open."""
    for offer in rng.sample(OFFERS, 4):
        install(facts, offer.name, rng.choice((1, 2, 3)), rng.randrange(8, 160))
    installed = {app.name: app.version for app in facts.all(InstalledApp)}
    behind = rng.sample(sorted(installed), min(4, len(installed)))
    ratings = rng.sample(range(30, 50), len(OFFERS))  # all distinct
    for offer, rating in zip(OFFERS, ratings, strict=True):
        version = installed.pop(offer.name, 1) + (offer.name in behind)
        reviews, size = rng.randrange(2, 900) * 100, rng.randrange(8, 160)
        facts.add(Listing(0, offer.name, rating / 10, reviews, size, version))
    for name, version in installed.items():  # preinstalled apps
        listing = Listing(0, name, rng.randrange(36, 50) / 10, rng.randrange(900, 9000) * 100)
        newest = version + (name in behind)
        facts.edit(facts.add(listing), megabytes=rng.randrange(10, 120), version=newest)
    facts.add(Notification(0, "Store", "Updates available", f"{len(behind)} apps can be updated"))


def install(facts: Facts, name: str, version: int, megabytes: int) -> None:
    """Add an app to the phone, with its icon at the end of the home screen."""
    last = max((app.place for app in facts.all(InstalledApp)), default=-1)
    facts.add(InstalledApp(name=name, version=version, place=last + 1, storage_megabytes=megabytes))
