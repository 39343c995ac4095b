"""The rows of settings pages: a switch, a choice, a link to a page."""

from __future__ import annotations

from phonesim.app import Ui, Window
from phonesim.apps.settings_pages.catalogue import (
    CHOICES,
    LANGUAGES,
    PAGES,
    SWITCHES,
)
from phonesim.scene import Handler
from phonesim.system import SystemSettings, switch
from phonesim.toolkit.boxes import Pad
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.widget import Widget

MAX_IN_SHEET = 12  # more options get a page with a search field
MAX_ROWS = 60


def switch_row(ui: Ui, setting: str) -> ListRow:
    """Return the row of a switch from the catalogue."""
    entry, on = SWITCHES[setting], bool(getattr(ui.settings, setting))
    return ListRow(
        ui.tr(entry.label),
        ui.tr(entry.detail),
        icon=entry.icon,
        switch=on,
        on_tap=lambda: switch(ui.facts, setting, not on),
    )


def switch_rows(ui: Ui, *settings: str) -> list[Widget]:
    return [switch_row(ui, setting) for setting in settings]


def choice_row(ui: Ui, setting: str) -> ListRow:
    """Return the row of a choice from the catalogue, with its current value."""
    entry = CHOICES[setting]
    shown = ui.tr(entry.shown(getattr(ui.settings, setting)))
    return ListRow(
        ui.tr(entry.label), shown, icon=entry.icon, on_tap=lambda: ui.go("choose", setting)
    )


def page_row(ui: Ui, page: str, detail: str = "") -> ListRow:
    """Return a row that opens another page."""
    entry = PAGES[page]
    told = detail or ui.tr(entry.summary)
    return ListRow(ui.tr(entry.title), told, icon=entry.icon, on_tap=lambda: ui.go(page))


def change(ui: Ui, **fields: object) -> None:
    ui.facts.change(SystemSettings, **fields)


def choose(ui: Ui, setting: str) -> Window:
    """The options of a choice: a sheet, or a page above `MAX_IN_SHEET` options."""
    entry, kept = CHOICES[setting], getattr(ui.settings, setting)

    def taking(label: str) -> Handler:
        return lambda: change(ui, **{setting: entry.options[label]})

    if len(entry.options) <= MAX_IN_SHEET:
        choices = {ui.tr(label): taking(label) for label in entry.options}
        return ui.sheet(ui.tr(entry.label), choices, chosen=ui.tr(entry.shown(kept)))
    query = ui.text("query").casefold()
    rows = [
        ListRow(
            ui.tr(label),
            LANGUAGES[label] if setting == "language" else "",
            radio=value == kept,
            on_tap=ui.closing(taking(label)),
        )
        for label, value in entry.options.items()
        if query in ui.tr(label).casefold() or query in label.casefold()
    ]
    hint = ui.tr(f"Search {entry.label.casefold()}")
    search = ui.field("query", hint, icon="search")
    return ui.page(
        ui.tr(entry.label),
        rows[:MAX_ROWS] or [Empty(ui.tr("Nothing found"), "search")],
        head=Pad(search, sides=12, top=4, bottom=4),
    )
