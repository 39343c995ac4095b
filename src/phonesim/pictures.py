"""Pictures of the phone: one screen, every app on one sheet, one screen on many phones."""

from __future__ import annotations

import random
from collections.abc import Sequence

from PIL import Image

from distrl.errors import UnknownApp
from distrl.records import Action, OpenApp, Swipe
from phonesim.apps.everyday import EVERYDAY_APPS, install
from phonesim.display import STANDARD, Display
from phonesim.drawing.fonts import face, text_mask
from phonesim.drift import Drift
from phonesim.finger import Finger
from phonesim.phone import Phone

INK, PAPER = (32, 34, 40), (246, 247, 250)
GAP, FOOT = 16, 30
LARGE = 480  # a picture wider than this has a larger caption
EVERYDAY_NAMES = frozenset(app.name for app in EVERYDAY_APPS)
DRAWER = Swipe(0.5, 0.75, 0.5, 0.3)
SHADE = Swipe(0.5, 0.005, 0.5, 0.6)


def draw_screen(
    app: str,
    seed: int,
    taps: Sequence[str] = (),
    display: Display = STANDARD,
    language: str = "English",
) -> Image.Image:
    """Draw the home screen or an app, after taps on the labels in `taps`."""
    return Image.fromarray(phone_at(app, seed, taps, display, language).frame())


def phone_at(
    app: str,
    seed: int,
    taps: Sequence[str] = (),
    display: Display = STANDARD,
    language: str = "English",
) -> Phone:
    """A phone without pop-ups on its home screen or in an app, after taps on these labels."""
    phone = Phone(seed, Drift(popup_rate=0.0, languages=(language,)), display)
    if app:
        names = {name.casefold(): name for name in phone.apps}
        if app.casefold() not in names:
            raise UnknownApp(f"no app called {app!r}; there are {', '.join(phone.apps)}")
        if names[app.casefold()] in EVERYDAY_NAMES:
            install(phone.facts, random.Random(f"everyday/{seed}"))
        phone.launch(names[app.casefold()])
    for label in taps:
        Finger(phone).tap(label)
    return phone


def draw_sheet(seed: int) -> Image.Image:
    """Home screen, drawer, shade and every preinstalled app."""
    actions: dict[str, Action | None] = {"Home": None, "Drawer": DRAWER, "Quick settings": SHADE}
    phone = Phone(seed)
    for name, app in phone.apps.items():
        if app.preinstalled:
            actions[name] = OpenApp(name)
    pictures = []
    start = phone.snapshot()
    for action in actions.values():
        phone.restore(start)
        if action:
            phone.perform(action)
            phone.show_popup(None)
        pictures.append(Image.fromarray(phone.frame()))
    return tile_pictures(pictures, list(actions), columns=7, width=200)


def draw_looks(app: str, seeds: int) -> Image.Image:
    pictures = [draw_screen(app, seed) for seed in range(seeds)]
    return tile_pictures(pictures, [f"seed {s}" for s in range(seeds)], columns=6, width=220)


def tile_pictures(
    pictures: Sequence[Image.Image], captions: Sequence[str], columns: int, width: int
) -> Image.Image:
    """Tile pictures with a caption below each, in 256 colours, which keeps the file small.

    Pictures that already have the width `width` are not resampled.
    """
    height = round(width * pictures[0].height / pictures[0].width)
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    size = (columns * (width + GAP) + GAP, rows * (height + FOOT + GAP) + GAP)
    sheet = Image.new("RGB", size, PAPER)
    for index, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        x = GAP + index % columns * (width + GAP)
        y = GAP + index // columns * (height + FOOT + GAP)
        if picture.size != (width, height):
            picture = picture.resize((width, height), Image.Resampling.LANCZOS)
        sheet.paste(picture, (x, y))
        write(sheet, caption, x + 2, y + height + 5, 20 if width > LARGE else 15)
    return few_colors(sheet)


def few_colors(sheet: Image.Image) -> Image.Image:
    """Return the sheet in 256 colours, chosen by k-means so that small things keep theirs."""
    return sheet.quantize(256, kmeans=1, dither=Image.Dither.NONE)


def write(sheet: Image.Image, caption: str, x: int, y: int, size: int = 15) -> None:
    """A caption, in any script that the phone can draw."""
    sheet.paste(INK, (x, y), Image.fromarray(text_mask(caption, face(size, "medium"))))
