"""The names of an app's pages: its public methods, apart from `furnish`."""

from __future__ import annotations

import inspect

from phonesim.app import App

NO_PAGE = "furnish"


def page_names(app: App) -> list[str]:
    """Return every page of the app that `ui.go` can open."""
    found = inspect.getmembers(type(app), inspect.isfunction)
    return [name for name, _ in found if name != NO_PAGE and not name.startswith("_")]
