"""Every app that a phone can run, by name: built-in ones and those registered as plugins.

A built-in app is a module here and a line below; docs/add-an-app.md shows how to register one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from distrl import plugins
from phonesim.app import App
from phonesim.apps.browser import BrowserApp
from phonesim.apps.calculator import CalculatorApp
from phonesim.apps.calendar import CalendarApp
from phonesim.apps.clock import ClockApp
from phonesim.apps.contacts import ContactsApp
from phonesim.apps.dialler import DiallerApp
from phonesim.apps.everyday import EVERYDAY_APPS
from phonesim.apps.extras import EXTRAS
from phonesim.apps.files import FilesApp
from phonesim.apps.gallery import GalleryApp
from phonesim.apps.mail import MailApp
from phonesim.apps.maps import MapsApp
from phonesim.apps.messages import MessagesApp
from phonesim.apps.music import MusicApp
from phonesim.apps.notes import NotesApp
from phonesim.apps.settings import SettingsApp
from phonesim.apps.store import StoreApp
from phonesim.apps.todo import TodoApp
from phonesim.apps.weather import WeatherApp

OWN_APPS: dict[str, App] = {
    app.name: app
    for app in (
        BrowserApp(),
        NotesApp(),
        SettingsApp(),
        ClockApp(),
        CalculatorApp(),
        ContactsApp(),
        DiallerApp(),
        MessagesApp(),
        MailApp(),
        TodoApp(),
        GalleryApp(),
        FilesApp(),
        CalendarApp(),
        MusicApp(),
        WeatherApp(),
        MapsApp(),
        StoreApp(),
        *EXTRAS,
        *EVERYDAY_APPS,
    )
}


class Apps(Mapping[str, App]):
    """Built-in apps first, then registered ones sorted by name: the same order in every process."""

    def __getitem__(self, name: str) -> App:
        return OWN_APPS[name] if name in OWN_APPS else self._registered()[name]

    def __iter__(self) -> Iterator[str]:
        yield from OWN_APPS
        yield from self._registered()

    def __len__(self) -> int:
        return len(OWN_APPS) + len(self._registered())

    def _registered(self) -> dict[str, App]:
        return _registered(plugins.generation("app"))


@cache
def _registered(_generation: int) -> dict[str, App]:
    parts = sorted(plugins.plugins("app"), key=lambda plugin: plugin.name)
    return {plugin.name: plugin.part() for plugin in parts}


APPS = Apps()
