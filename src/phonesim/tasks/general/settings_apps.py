"""Tasks in Settings about installed apps: permissions, notifications, removal, storage, battery."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from phonesim.apps import OWN_APPS
from phonesim.apps.settings_pages.installed_apps import PERMISSIONS
from phonesim.facts import Facts
from phonesim.system import InstalledApp
from phonesim.tasks.answers import mentions, states_number
from phonesim.tasks.domains import Domain, parameter
from phonesim.tasks.general.settings import to_page
from phonesim.tasks.general.store import OFFERED, put_app, wrong_apps
from phonesim.tasks.moves import Move, Press, Reveal, Say, Toggle
from phonesim.tasks.structured_answers import states_quantity
from phonesim.tasks.template import Template, View, added, changed, differing_fields, removed

RESERVED = ("Files", "Weather")  # apps that are held out of training
INSTALLED = tuple(name for name, app in OWN_APPS.items() if app.preinstalled)
APP_NAMES = Domain(
    "app names",
    tuple(name for name in INSTALLED if name not in (*RESERVED, "Settings")),
    reserved=RESERVED,
)
GRANTS = Domain(  # a permission, and whether to give it
    "permissions", tuple((name, give) for name in PERMISSIONS for give in (True, False))
)
NOUNS = {  # what a permission is for
    "camera": "the camera", "microphone": "the microphone", "contacts": "my contacts",
    "location": "my location",
}  # fmt: skip
RANKS = Domain(
    "ranks",
    (1, 2, 3, 4),
    say=lambda rank: ("the most", "the second most", "the third most", "the fourth most")[rank - 1],
)
BY_POPUP = {"version", "location"}  # fields of an app that a pop-up may change


def find_app(facts: Facts, name: str) -> InstalledApp:
    return next(app for app in facts.all(InstalledApp) if app.name == name)


def app_missing(start: View, end: View, name: str, field: str, value: bool) -> str | None:
    """Return None if this field of this app is as wanted and no app changed otherwise; else why."""
    if added(start, end, InstalledApp) or removed(start, end, InstalledApp):
        return "an app was installed or removed"
    for old, new in changed(start, end, InstalledApp):
        others = differing_fields(old, new) - BY_POPUP
        if others - ({field} if old.name == name else set()):
            return f"something else was changed for {old.name}: {sorted(others)}"
    if getattr(find_app(end.facts, name), field) != value:
        return f"{field} of {name} is still {not value}"
    return None


@dataclass(frozen=True)
class SetPermission(Template):
    name = "settings.permission"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        "{verb} the app {app} to use {permission}",
        "In the settings, {verb_small} {app} to use {permission}",
        "Go to the permissions of {app} and {verb_small} access to {permission}",
    )
    touches = (InstalledApp,)
    app: str = parameter(APP_NAMES)
    grant: tuple[str, bool] = parameter(GRANTS)

    def words(self) -> dict[str, str]:
        permission, give = self.grant
        verb = "allow" if give else "forbid"
        return {
            "app": self.app,
            "permission": NOUNS[permission],
            "verb": verb.title(),
            "verb_small": verb,
        }

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        permission, give = self.grant
        facts.edit(find_app(facts, self.app), **{permission: not give})

    def missing(self, start: View, end: View) -> str | None:
        return app_missing(start, end, self.app, *self.grant)

    def solve(self, start: View) -> Iterable[Move]:
        permission, give = self.grant
        yield from to_page("app_list")
        yield Press(self.app, role="row")
        yield Toggle(PERMISSIONS[permission][0], give)


@dataclass(frozen=True)
class MuteApp(Template):
    name = "settings.mute_app"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        "Turn off notifications for {app}",
        "I do not want to be notified by {app} any more",
        "Stop the app {app} from sending me notifications",
    )
    touches = (InstalledApp,)
    app: str = parameter(APP_NAMES)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        facts.edit(find_app(facts, self.app), notifications=True)

    def missing(self, start: View, end: View) -> str | None:
        return app_missing(start, end, self.app, "notifications", False)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("app_list")
        yield Press(self.app, role="row")
        yield Toggle("Notifications", False)


@dataclass(frozen=True)
class UninstallApp(Template):
    name = "settings.uninstall"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        "Go to the settings and uninstall the app {app}",
        "In the list of apps in Settings, find {app} and uninstall it",
        "Use the settings to remove {app} from my phone altogether",
    )
    touches = (InstalledApp,)
    app: str = parameter(OFFERED)

    def prepare(self, facts: Facts, rng: random.Random) -> None:
        put_app(facts, self.app)

    def missing(self, start: View, end: View) -> str | None:
        return wrong_apps(start, end, gone=self.app)

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("app_list")
        yield Press(self.app, role="row")
        yield Press("Uninstall")
        yield Press("Uninstall")


@dataclass(frozen=True)
class AskStorage(Template):
    name = "settings.ask_storage"
    apps = ("Settings",)
    difficulty = "medium"
    phrasings = (
        "How many megabytes of storage does the app {app} use?",
        "How much storage does {app} take up on this phone, in MB?",
        "Tell me how many megabytes {app} takes up, according to the settings",
    )
    app: str = parameter(APP_NAMES)

    def missing(self, start: View, end: View) -> str | None:
        megabytes = find_app(start.facts, self.app).storage_megabytes
        said = end.answer
        right = states_number(said, megabytes) or states_quantity(said, megabytes, "mb")
        return None if right else f"{self.app} uses {megabytes} MB; the answer: {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("app_list")
        yield Press(self.app, role="row")
        yield Reveal("Storage")
        yield Say(f"{find_app(start.facts, self.app).storage_megabytes} MB")


@dataclass(frozen=True)
class AskBattery(Template):
    name = "settings.ask_battery"
    apps = ("Settings",)
    difficulty = "easy"
    phrasings = (
        "Which app has used {rank} battery since the last charge?",
        "Look at the battery page in the settings: which app took {rank} power?",
        "Find out in the settings which app uses {rank} battery",
    )
    rank: int = parameter(RANKS)

    def answer(self, view: View) -> str:
        apps = sorted(view.all(InstalledApp), key=lambda app: (-app.battery_share, app.name))
        return apps[self.rank - 1].name

    def missing(self, start: View, end: View) -> str | None:
        others = [app.name for app in start.all(InstalledApp) if app.name != "Settings"]
        if mentions(end.answer, self.answer(start), others):
            return None
        return f"it was {self.answer(start)}; the answer: {end.answer!r}"

    def solve(self, start: View) -> Iterable[Move]:
        yield from to_page("battery")
        yield Say(self.answer(start))


TEMPLATES: tuple[type[Template], ...] = (
    SetPermission,
    MuteApp,
    UninstallApp,
    AskStorage,
    AskBattery,
)
