"""Tasks in the app Store. Which apps are there is judged by name, so any way to install counts."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.contents.listings import (
    CATEGORIES,
    OFFER_OF,
    OFFERS,
    Listing,
    install,
)
from phonesim.facts import Facts
from phonesim.system import InstalledApp
from phonesim.tasks.answers import mentions, states_number
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.moves import Fill, GoBack, Move, Open, Press, Reveal, Say
from phonesim.tasks.structured_answers import states_quantity
from phonesim.tasks.template import Template, View, changed, without_popups

OFFERED = Domain("apps of the store", tuple(offer.name for offer in OFFERS))
CATEGORY_NAMES = Domain("categories of the store", tuple(CATEGORIES))


def listing_of(view: View, name: str) -> Listing:
    return next(listing for listing in view.all(Listing) if listing.name == name)


def take_away(facts: Facts, name: str) -> None:
    facts.remove_where(InstalledApp, lambda app: app.name == name)


def put_app(facts: Facts, name: str) -> None:
    """Make sure that the app is there, in its newest version."""
    take_away(facts, name)
    listing = facts.find(Listing, lambda li: li.name == name)
    if listing:
        install(facts, name, listing.version, listing.megabytes)


def wrong_apps(start: View, end: View, *, new: str = "", gone: str = "") -> str | None:
    """Return how the installed apps differ from what is expected; None if they do not."""
    before = {app.name for app in start.all(InstalledApp)}
    after = {app.name for app in end.all(InstalledApp)}
    if new and new not in after:
        return f"{new} is not installed"
    if gone and gone in after:
        return f"{gone} is still installed"
    others = (before ^ after) - {new, gone}
    if others or len(end.all(InstalledApp)) != len(after):
        return f"installed or removed as well: {', '.join(sorted(others))}"
    pairs = changed(start, end, InstalledApp)
    wrong = [old.name for old, app in pairs if without_popups(old) != without_popups(app)]
    return f"changed as well: {', '.join(wrong)}" if wrong else None


def best_of(view: View, category: str) -> Listing:
    offered = [li for li in view.all(Listing) if li.name in OFFER_OF]
    return max(
        (li for li in offered if OFFER_OF[li.name].category == category), key=lambda li: li.rating
    )


def open_listing(name: str) -> Iterable[Move]:
    yield Open("Store")
    yield Fill("Search apps", name)
    yield Press(name, "row")


@dataclass(frozen=True)
class InstallApp(Template):
    name = "store.install"
    apps = ("Store",)
    difficulty = "medium"
    phrasings = (
        "Install the app {app}",
        "Get {app} from the Store",
        "Please download and install {app} on this phone",
        "I would like to have the {app} app. Install it",
    )
    touches = (InstalledApp,)
    app: str = parameter(OFFERED)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        take_away(facts, self.app)

    def missing(self, start: View, end: View) -> str | None:
        return wrong_apps(start, end, new=self.app)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_listing(self.app)
        yield Press("Install")


@dataclass(frozen=True)
class UninstallApp(Template):
    name = "store.uninstall"
    apps = ("Store",)
    difficulty = "medium"
    phrasings = (
        "Uninstall the app {app}",
        "Remove {app} from this phone",
        "I never use {app}. Please uninstall it",
    )
    touches = (InstalledApp,)
    app: str = parameter(OFFERED)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_app(facts, self.app)

    def missing(self, start: View, end: View) -> str | None:
        return wrong_apps(start, end, gone=self.app)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_listing(self.app)
        yield Press("Uninstall")
        yield Press("Uninstall")


@dataclass(frozen=True)
class UpdateApp(Template):
    name = "store.update"
    apps = ("Store",)
    difficulty = "easy"
    phrasings = (
        "Update the app {app}, and only that one",
        "There is a new version of {app}. Update it, but leave the other apps as they are",
        "In the Store, bring {app} up to date, just this app",
    )
    touches = (InstalledApp,)
    app: str = parameter(OFFERED)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_app(facts, self.app)
        listing = facts.find(Listing, lambda li: li.name == self.app)
        if listing:
            facts.edit(listing, version=listing.version + 1)

    def missing(self, start: View, end: View) -> str | None:
        before = {app.name: app.version for app in start.all(InstalledApp)}
        after = {app.name: app.version for app in end.all(InstalledApp)}
        if after.get(self.app, 0) < before[self.app] + 1:
            return f"{self.app} is not up to date"
        # A pop-up may have updated the store itself.
        others = {n for n in before if before[n] != after.get(n)} - {self.app, "Store"}
        if others:
            return f"changed as well: {', '.join(sorted(others))}"
        return wrong_apps(start, end)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Store")
        yield Press("My apps", "tab")
        yield Press(f"Update {self.app}")


@dataclass(frozen=True)
class InstallAndOpen(Template):
    name = "store.install_and_open"
    apps = ("Store",)
    difficulty = "medium"
    held_out = True
    phrasings = (
        "Install {app} and open it",
        "Get the app {app} from the Store, then start it",
        "I want to try {app}: install it and open it right away",
    )
    touches = (InstalledApp,)
    app: str = parameter(OFFERED)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        take_away(facts, self.app)

    def missing(self, start: View, end: View) -> str | None:
        wrong = wrong_apps(start, end, new=self.app)
        return wrong or (None if end.app == self.app else f"{self.app} is not open")

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_listing(self.app)
        yield Press("Install")
        yield Press("Open")


@dataclass(frozen=True)
class AppSize(Template):
    name = "store.app_size"
    apps = ("Store",)
    difficulty = "medium"
    phrasings = (
        "How many megabytes does the app {app} need, according to the Store?",
        "What is the size of {app} in the Store, in MB?",
        "Check in the Store how big the app {app} is",
    )
    app: str = parameter(OFFERED)

    def missing(self, start: View, end: View) -> str | None:
        size = listing_of(start, self.app).megabytes
        right = states_number(end.answer, size) or states_quantity(end.answer, size, "mb")
        return None if right else f"the answer {end.answer!r} does not say {size} MB"

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_listing(self.app)
        yield Say(f"{listing_of(start, self.app).megabytes} MB")


@dataclass(frozen=True)
class AppRating(Template):
    name = "store.app_rating"
    apps = ("Store",)
    difficulty = "easy"
    phrasings = (
        "How many stars does {app} have in the Store?",
        "What is the rating of the app {app}?",
        "Look up how people rate {app} in the Store",
    )
    app: str = parameter(OFFERED)

    def missing(self, start: View, end: View) -> str | None:
        rating = listing_of(start, self.app).rating
        right = states_number(end.answer, rating, ["5 stars"])
        return None if right else f"the answer {end.answer!r} does not say {rating}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Store")
        yield Fill("Search apps", self.app)
        yield Say(f"{listing_of(start, self.app).rating:.1f}")


@dataclass(frozen=True)
class InstallBest(Template):
    name = "store.install_best"
    apps = ("Store",)
    difficulty = "medium"
    phrasings = (
        'Install the best rated app of the category "{category}"',
        'Which app under "{category}" in the Store has the most stars? Install it',
        'Get the app with the highest rating in "{category}" from the Store',
    )
    touches = (InstalledApp,)
    category: str = parameter(CATEGORY_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        for offer in OFFERS:
            if offer.category == self.category:
                take_away(facts, offer.name)

    def missing(self, start: View, end: View) -> str | None:
        return wrong_apps(start, end, new=best_of(start, self.category).name)

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Store")
        yield Press("Categories", "tab")
        yield Press(self.category)
        yield Press(best_of(start, self.category).name)
        yield Press("Install")


@dataclass(frozen=True)
class BestApp(Template):
    name = "store.best_app"
    apps = ("Store",)
    difficulty = "easy"
    held_out = True
    phrasings = (
        'Which app of the category "{category}" has the best rating in the Store?',
        'Name the app with the most stars under "{category}" in the Store',
        'What is the best rated app in "{category}"?',
    )
    category: str = parameter(CATEGORY_NAMES)

    def missing(self, start: View, end: View) -> str | None:
        best = best_of(start, self.category).name
        right = mentions(end.answer, best, [offer.name for offer in OFFERS])
        return None if right else f"the answer {end.answer!r} does not name {best!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield Open("Store")
        yield Press("Categories", "tab")
        yield Press(self.category)
        yield Reveal(best_of(start, self.category).name)
        yield Say(best_of(start, self.category).name)


@dataclass(frozen=True)
class ReplaceApp(Template):
    name = "store.replace"
    apps = ("Store",)
    difficulty = "hard"
    phrasings = (
        "Uninstall {old} and install {app} instead",
        "Replace the app {old} with {app}: remove the one and install the other",
        "I want {app} in place of {old}. Remove {old} and get {app}",
    )
    touches = (InstalledApp,)
    old: str = parameter(OFFERED)
    app: str = parameter(OFFERED)

    def sensible(self) -> bool:
        return self.old != self.app

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_app(facts, self.old)
        take_away(facts, self.app)

    def missing(self, start: View, end: View) -> str | None:
        return wrong_apps(start, end, new=self.app, gone=self.old)

    def solve(self, start: View) -> Iterable[Move]:
        yield from open_listing(self.old)
        yield Press("Uninstall")
        yield Press("Uninstall")
        yield GoBack()
        yield Fill("Search apps", self.app)
        yield Press(self.app, "row")
        yield Press("Install")


TEMPLATES: tuple[type[Template], ...] = (
    InstallApp,
    UninstallApp,
    UpdateApp,
    InstallAndOpen,
    AppSize,
    AppRating,
    InstallBest,
    BestApp,
    ReplaceApp,
)
