"""Screens as URLs: exact, made once, and not kept for ever."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from distrl.chat.chat_server import PictureUrls
from distrl.records import Screen


def screen(seed: int, height: int = 30, width: int = 20) -> Screen:
    noise = np.random.default_rng(seed)
    return Screen(noise.integers(0, 256, (height, width, 3), dtype=np.uint8))


def test_the_pixels_come_back_exactly() -> None:
    url = PictureUrls().url(screen(1), (20, 30))
    picture = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
    assert np.array_equal(np.asarray(picture), screen(1).pixels)


def test_equal_screens_are_encoded_once_and_each_size_on_its_own() -> None:
    urls, size = PictureUrls(), (20, 30)
    assert urls.url(screen(1), size) is urls.url(screen(1), size)
    assert urls.url(screen(1), size) != urls.url(screen(1), (40, 60))
    assert urls.url(screen(1), size) != urls.url(screen(2), size)


def test_the_oldest_that_nobody_asked_for_is_forgotten() -> None:
    urls, size = PictureUrls(most=2), (20, 30)
    first, second = urls.url(screen(1), size), urls.url(screen(2), size)
    assert urls.url(screen(1), size) is first
    urls.url(screen(3), size)  # no room: 2 was asked for longest ago
    assert urls.url(screen(1), size) is first
    assert urls.url(screen(2), size) is not second
