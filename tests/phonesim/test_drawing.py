"""Icons and pictures: all there, all different, the same in every process, never in the way."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from phonesim.drawing.icons import GRID, ICONS, STROKES, icon_mask
from phonesim.drawing.photographs import SAME_AS, SCENES, scene_of
from phonesim.drawing.pictures import KINDS, picture
from phonesim.drawing.products import COLORS, DRAWINGS
from phonesim.drift import WALLPAPERS

PROMISED_ICONS = """
plus minus back forward up down chevron close check search more menu settings edit trash share star
star_filled heart heart_filled pin copy save refresh filter sort info warning help lock unlock eye
user users home grid list link download upload play pause stop next previous shuffle repeat volume
mute microphone camera image video file folder archive inbox send reply attach phone hangup message
mail calendar clock alarm timer stopwatch globe map location directions train bus walk car bike cart
bag tag truck gift card store app calculator note todo music album weather sun moon cloud rain snow
storm wind fog drop thermometer battery signal wifi airplane bluetooth flashlight rotate hotspot nfc
vibrate sound brightness data language keyboard_icon apps storage accessibility developer shift
backspace enter nav_back nav_home nav_recents book recorder leaf coffee food bed ticket news recipe
game chart fitness wallet bank
"""

PROMISED_PRODUCTS = """
headphones earbuds laptop phone tablet keyboard mouse monitor camera speaker watch charger cable
backpack shoes shirt jacket hat lamp chair desk kettle pan knife mug bottle blender book puzzle ball
tent bicycle guitar plant pillow blanket clock umbrella vacuum drill toothbrush gamepad router
printer
"""

SAMPLE_KEYS = (
    *(f"wallpaper:{name}" for name in WALLPAPERS),
    *(f"photo:{scene} 7" for scene in sorted(SCENES)),
    *(f"product:{category}:red:1" for category in PROMISED_PRODUCTS.split()),
    "product:gizmo:blue:2",
    "portrait:Ada",
    "cover:Low Tide",
    "banner:spring",
    "nobody knows this",
)


def fingerprint() -> str:
    """One number for many pictures and all icons; also run by a fresh process below."""
    digest = hashlib.sha256()
    for key in SAMPLE_KEYS:
        digest.update(picture(key, 60, 44).tobytes())
    for name in ICONS:
        digest.update(icon_mask(name, 22).tobytes())
    return digest.hexdigest()


def test_a_fresh_process_draws_the_same_pixels() -> None:
    other_hashes = {**os.environ, "PYTHONHASHSEED": "17"}
    fresh = subprocess.run(
        [sys.executable, __file__],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=other_hashes,
    )
    assert fresh.stdout == fingerprint()


def test_promised_icons_are_drawn() -> None:
    assert set(PROMISED_ICONS.split()) <= set(ICONS)


@pytest.mark.parametrize("size", [14, 22, 48])
def test_icons_differ_from_each_other_and_from_the_placeholder(size: int) -> None:
    seen = {icon_mask("no such icon", size).tobytes(): "the placeholder"}
    for name in ICONS:
        mask = icon_mask(name, size)
        assert mask.shape == (size, size)
        assert mask.dtype == np.uint8
        assert mask.max() > 200, f"{name} is too faint at {size} pixels"
        twin = seen.setdefault(mask.tobytes(), name)
        assert twin == name, f"{name} looks like {twin}"


def test_icons_stay_inside_their_grid() -> None:
    """Ink on the outermost ring would be cut off and touch its neighbours."""
    for name in ICONS:
        mask = icon_mask(name, GRID * 4)
        edge = np.concatenate([mask[0], mask[-1], mask[:, 0], mask[:, -1]])
        assert edge.max() < 128, f"{name} runs over the edge of its grid"


def test_every_stroke_word_is_known() -> None:
    for name, strokes in ICONS.items():
        for stroke in strokes.split(";"):
            word = stroke.removeprefix(" ").removeprefix("cut ").split()[0]
            assert word.partition("@")[0] in STROKES, f"{name}: {stroke}"


@pytest.mark.parametrize("key", SAMPLE_KEYS)
def test_pictures_have_the_size_asked_for_and_cannot_be_changed(key: str) -> None:
    for width, height in ((40, 40), (97, 31), (31, 97), (1, 1), (3, 200)):
        pixels = picture(key, width, height)
        assert pixels.shape == (height, width, 3)
        assert pixels.dtype == np.uint8
        assert not pixels.flags.writeable
    assert picture(key, 40, 40) is picture(key, 40, 40)


def test_pictures_of_a_kind_differ() -> None:
    seen: dict[bytes, str] = {}
    keys = [*SAMPLE_KEYS, "portrait:Bo", "cover:High Tide", "banner:autumn", "photo:cat 8"]
    keys += [f"product:mug:{color}:1" for color in COLORS if color != "red"]
    for key in keys:
        assert seen.setdefault(picture(key, 48, 48).tobytes(), key) == key


@pytest.mark.parametrize(("width", "height"), [(0, 0), (-3, 8), (8, -1), (0, 5)])
def test_an_impossible_size_gives_an_empty_picture(width: int, height: int) -> None:
    for kind in (*KINDS, "unknown"):
        assert picture(f"{kind}:x", width, height).size == 0
    assert icon_mask("plus", min(width, height)).shape == (0, 0)


@pytest.mark.parametrize(
    "key", ["", ":", "product:", "product:::", "photo:", "wallpaper:x:y", "é:ü"]
)
def test_odd_keys_still_give_a_picture(key: str) -> None:
    assert picture(key, 20, 10).shape == (10, 20, 3)


@pytest.mark.parametrize("name", WALLPAPERS)
def test_white_labels_are_readable_on_wallpapers(name: str) -> None:
    """Contrast of at least 3 to 1 with white nearly everywhere, by the luminance of sRGB."""
    light = (picture(f"wallpaper:{name}", 180, 360) / 255.0) ** 2.2 @ (0.2126, 0.7152, 0.0722)
    contrast = 1.05 / (light + 0.05)
    assert np.quantile(contrast, 0.1) > 3.0


def test_promised_products_are_drawn() -> None:
    assert set(PROMISED_PRODUCTS.split()) <= set(DRAWINGS)


@pytest.mark.parametrize("color", ["red", "blue", "green", "yellow"])
@pytest.mark.parametrize("category", ["mug", "shirt", "headphones", "backpack"])
def test_products_show_their_colour(category: str, color: str) -> None:
    """More pixels are nearest to the product's colour than to any other of the bright ones."""
    pixels = picture(f"product:{category}:{color}:3", 60, 60).astype(int).reshape(-1, 3)
    bright = ["red", "blue", "green", "yellow"]
    colorful = pixels[np.ptp(pixels, axis=1) > 60]
    distance = np.stack([np.abs(colorful - COLORS[name]).sum(axis=1) for name in bright])
    assert bright[np.bincount(distance.argmin(axis=0), minlength=4).argmax()] == color


def test_photographs_choose_their_scene_by_the_first_known_word() -> None:
    assert scene_of("Beach 12") == "beach"
    assert scene_of("our_kitten-03") == "cat"
    assert scene_of("birthday at the beach") == "cake"
    assert scene_of("qwxyz") == scene_of("qwxyz")
    assert set(SAME_AS.values()) <= set(SCENES)


if __name__ == "__main__":
    sys.stdout.write(fingerprint())
