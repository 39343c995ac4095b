"""Every app that a phone can run, by name. A new app is a module here and a line below."""

from __future__ import annotations

from distrl.devices.simulated.app import App
from distrl.devices.simulated.apps.browser import BrowserApp
from distrl.devices.simulated.apps.calculator import CalculatorApp
from distrl.devices.simulated.apps.calendar import CalendarApp
from distrl.devices.simulated.apps.clock import ClockApp
from distrl.devices.simulated.apps.contacts import ContactsApp
from distrl.devices.simulated.apps.dialler import DiallerApp
from distrl.devices.simulated.apps.extras import EXTRAS
from distrl.devices.simulated.apps.files import FilesApp
from distrl.devices.simulated.apps.gallery import GalleryApp
from distrl.devices.simulated.apps.mail import MailApp
from distrl.devices.simulated.apps.maps import MapsApp
from distrl.devices.simulated.apps.messages import MessagesApp
from distrl.devices.simulated.apps.music import MusicApp
from distrl.devices.simulated.apps.notes import NotesApp
from distrl.devices.simulated.apps.settings import SettingsApp
from distrl.devices.simulated.apps.store import StoreApp
from distrl.devices.simulated.apps.todo import TodoApp
from distrl.devices.simulated.apps.weather import WeatherApp

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
    )
}
