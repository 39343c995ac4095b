"""The names of an app's pages: its public methods, apart from the one that furnishes a phone."""

from __future__ import annotations

import inspect

from phonesim.app import App

NO_PAGE = "furnish"


def page_names(app: App) -> list[str]:
    """Every page that `ui.go` can open in the app."""
    found = inspect.getmembers(type(app), inspect.isfunction)
    return [name for name, _ in found if name != NO_PAGE and not name.startswith("_")]
