"""Pictures drawn from a key: wallpapers, photographs, portraits, covers, dishes, products.

A key is "kind:rest", for example "wallpaper:lake", "photo:beach 3", "portrait:Ada",
"cover:Low Tide", "dish:Ramen", "product:mug:red:7" or "banner:spring". The same key and size give
the same pixels in every process on every machine. An unknown kind gives a neutral gradient and a
size below one an empty picture: a picture must never stop a phone. All phones of a process share
a picture, so it is read-only.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from distrl.records import Pixels
from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import fade, lighter
from phonesim.drawing.covers import draw_banner, draw_cover
from phonesim.drawing.dishes import draw_dish
from phonesim.drawing.photographs import draw_photograph
from phonesim.drawing.picture_cache import PictureCache
from phonesim.drawing.portraits import draw_portrait
from phonesim.drawing.products import draw_product
from phonesim.drawing.wallpapers import draw_wallpaper


def _draw_gradient(name: str, width: int, height: int) -> Pixels:
    rng = random.Random(f"gradient/{name}")
    grey = rng.randrange(120, 180)
    color = (grey + rng.randrange(-16, 17), grey, grey + rng.randrange(-16, 17))
    return Brush(width, height, fade(lighter(color, 0.35), color)).pixels()


KINDS: dict[str, Callable[[str, int, int], Pixels]] = {
    "wallpaper": draw_wallpaper,
    "photo": draw_photograph,
    "portrait": draw_portrait,
    "cover": draw_cover,
    "dish": draw_dish,
    "product": draw_product,
    "banner": draw_banner,
}


# Shared by all phones of the process. One cache per density, because dense pictures are large.
_CACHES = {
    density: PictureCache(max_bytes=size * 2**20) for density, size in ((1, 64), (2, 192), (3, 384))
}


def picture(key: str, width: int, height: int, density: int = 1) -> Pixels:
    """Return the picture of that key, `width` × `height` layout units, drawn or from the cache."""
    wide, high = width * density, height * density
    return _CACHES[density].get((key, wide, high), lambda: _draw(key, wide, high))


def _draw(key: str, width: int, height: int) -> Pixels:
    if width < 1 or height < 1:
        pixels = np.zeros((max(0, height), max(0, width), 3), dtype=np.uint8)
    else:
        kind, _, name = key.partition(":")
        pixels = KINDS.get(kind, _draw_gradient)(name, width, height)
    pixels.flags.writeable = False
    return pixels
