"""Display, and Wallpaper & style: changes here are visible at once."""

from __future__ import annotations

from phonesim.app import Ui, Window
from phonesim.apps.settings_pages.catalogue import PAGES
from phonesim.apps.settings_pages.rows import (
    change,
    choice_row,
    page_row,
    switch_row,
    switch_rows,
)
from phonesim.drawing.theme import ACCENTS
from phonesim.drift import WALLPAPERS
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Grid, Pad
from phonesim.toolkit.controls import Slider
from phonesim.toolkit.swatches import PictureChoice, Swatch
from phonesim.toolkit.texts import Heading, Picture
from phonesim.toolkit.widget import Widget


def display(ui: Ui) -> Window:
    brightness = Slider(
        ui.tr("Brightness"),
        ui.settings.brightness,
        lambda share: change(ui, brightness=round(share, 2)),
    )
    rows: list[Widget] = [
        Pad(brightness, top=12),
        switch_row(ui, "auto_brightness"),
        Heading(ui.tr("Appearance")),
        *switch_rows(ui, "dark_mode", "night_light"),
        choice_row(ui, "font_scale"),
        Heading(ui.tr("Screen")),
        choice_row(ui, "screen_timeout_minutes"),
        *switch_rows(ui, "auto_rotate", "lift_to_wake", "always_on_display"),
    ]
    if ui.version == 3:
        rows = [*rows[2:6], *rows[:2], *rows[6:]]
    return ui.page(ui.tr("Display"), rows)


def style(ui: Ui) -> Window:
    preview = Picture(f"wallpaper:{ui.settings.wallpaper}", high=220, label=ui.tr("Preview"))
    rows: list[Widget] = [
        Pad(preview, sides=110),
        page_row(ui, "wallpapers", ui.tr(ui.settings.wallpaper.title())),
        page_row(ui, "accents", ui.tr(ui.settings.accent.title())),
        switch_row(ui, "dark_mode"),
    ]
    return ui.page(ui.tr(PAGES["style"].title), rows)


def wallpapers(ui: Ui) -> Window:
    pictures = [
        PictureChoice(
            ui.tr(name.title()),
            f"wallpaper:{name}",
            _setting(ui, "wallpaper", name, "Wallpaper set to {name}"),
            high=190,
            selected=name == ui.settings.wallpaper,
        )
        for name in WALLPAPERS
    ]
    return ui.page(ui.tr("Wallpaper"), [Pad(Grid(pictures, columns=3, gap=10), sides=12)])


def accents(ui: Ui) -> Window:
    swatches = [
        Swatch(
            ui.tr(name.title()),
            color,
            _setting(ui, "accent", name, "Accent colour set to {name}"),
            selected=name == ui.settings.accent,
        )
        for name, color in ACCENTS.items()
    ]
    return ui.page(ui.tr("Accent colour"), [Pad(Grid(swatches, columns=4, gap=12), top=16)])


def _setting(ui: Ui, setting: str, value: str, message: str) -> Handler:
    def take() -> None:
        change(ui, **{setting: value})
        ui.say(ui.tr(message, name=ui.tr(value.title())))

    return take
