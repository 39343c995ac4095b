"""Pictures of screens of several sizes: one page at each density, tablets, a phone on its side."""

from __future__ import annotations

from PIL import Image

from phonesim.display import DENSITIES, Display
from phonesim.drift import NO_DRIFT
from phonesim.phone import Phone
from phonesim.pictures import PAPER, few_colors, tile_pictures, write

PART = (0, 24, 200, 174)  # left, top, right and bottom of the compared part, in units
SCREENS = (  # display, app ("": the home screen), and place on the sheet: left, top, width
    (Display(1280, 800), "Messages", 16, 16, 720),
    (Display(800, 1280), "", 752, 16, 400),
    (Display(720, 360), "Clock", 16, 502, 352),
    (Display(720, 360), "", 384, 502, 352),
)
SHEET = (1168, 720)


def draw_densities(seed: int, app: str = "Gallery") -> Image.Image:
    """Draw the same part of a page at every density, enlarged to the size of the highest."""
    most = max(DENSITIES)
    left, top, right, bottom = PART
    pictures = []
    for density in DENSITIES:
        part = _screen(seed, app, Display(360 * density, 720 * density, density)).crop(
            (left * density, top * density, right * density, bottom * density)
        )
        size = (most * (right - left), most * (bottom - top))
        pictures.append(part.resize(size, Image.Resampling.NEAREST))
    captions = [f"density {density}" for density in DENSITIES]
    return tile_pictures(pictures, captions, len(DENSITIES), most * (right - left))


def draw_screens(seed: int) -> Image.Image:
    """Draw a tablet in both orientations and a landscape phone at density 2, at half size."""
    sheet = Image.new("RGB", SHEET, PAPER)
    for display, app, left, top, width in SCREENS:
        fine = Display(2 * display.width, 2 * display.height, 2)
        height = round(width * display.height / display.width)
        drawn = _screen(seed, app, fine).resize((width, height), Image.Resampling.LANCZOS)
        sheet.paste(drawn, (left, top))
        write(sheet, str(display).partition("@")[0].replace("x", " × "), left + 2, top + height + 3)
    return few_colors(sheet)


def _screen(seed: int, app: str, display: Display) -> Image.Image:
    phone = Phone(seed, NO_DRIFT, display)
    if app:
        phone.launch(app)
    return Image.fromarray(phone.frame())
