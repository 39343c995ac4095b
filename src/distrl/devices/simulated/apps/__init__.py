"""Every app that a phone can run, by name. A new app is a module here and a line below."""

from __future__ import annotations

from distrl.devices.simulated.app import App
from distrl.devices.simulated.apps.notes import NotesApp

APPS: dict[str, App] = {app.name: app for app in (NotesApp(),)}
