"""Sheets of many screens: true pixels, each theme and language, captions in any script."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from phonesim import display_pictures, everyday_pictures, language_pictures
from phonesim.display import DENSITIES
from phonesim.everyday_pictures import PAGES, THEMES
from phonesim.languages.language import FOLDERS
from phonesim.pictures import FOOT, GAP


def tile(sheet: Image.Image, column: int, row: int, wide: int, high: int) -> Image.Image:
    left, top = GAP + column * (wide + GAP), GAP + row * (high + FOOT + GAP)
    return sheet.convert("RGB").crop((left, top, left + wide, top + high))


def brightness(picture: Image.Image) -> float:
    return float(np.asarray(picture.convert("L")).mean())


def test_every_everyday_app_is_shown_in_light_and_in_dark_in_true_pixels() -> None:
    sheet = everyday_pictures.draw_everyday(1, "German")
    assert sheet.width == len(PAGES) * (360 + GAP) + GAP
    for column in range(len(PAGES)):
        for row in (0, 2):
            light, dark = (tile(sheet, column, row + below, 360, 720) for below in (0, 1))
            assert brightness(light) > 2 * brightness(dark)
    assert everyday_pictures.THEMES.keys() == FOLDERS.keys() == language_pictures.OWN_NAMES.keys()


def test_density_1_shows_each_pixel_and_density_3_more_of_them() -> None:
    _, top, bottom = everyday_pictures.PARTS["Chat"]
    sheet = everyday_pictures.draw_everyday_densities(1, "Chat")
    wide, high = 3 * 360, 3 * (bottom - top)
    coarse, fine = (np.asarray(tile(sheet, column, 0, wide, high)) for column in (0, 1))
    blocks = coarse.reshape(high // 3, 3, wide // 3, 3, 3)
    assert (blocks == blocks[:, :1, :, :1]).all()
    finer = fine.reshape(high // 3, 3, wide // 3, 3, 3)
    assert not (finer == finer[:, :1, :, :1]).all()
    assert sheet.height == len(THEMES) * (high + FOOT + GAP) + GAP


@pytest.mark.slow
def test_the_other_sheets_can_be_drawn() -> None:
    assert display_pictures.draw_densities(1).width > len(DENSITIES) * 3 * 200
    assert display_pictures.draw_screens(1).size == display_pictures.SHEET
    assert language_pictures.draw_languages(1).width == 8 * (240 + GAP) + GAP
    assert language_pictures.draw_scripts(1).width == 4 * (300 + GAP) + GAP
