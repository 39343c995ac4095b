"""Every app that a phone can run, by name. A new app is a module here and a line below."""

from __future__ import annotations

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

APPS: dict[str, App] = {
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
