"""Pictures drawn by us from a key: wallpapers, photographs, portraits, covers, products."""

from __future__ import annotations

import zlib
from functools import lru_cache

import numpy as np

from distrl.records import Pixels


@lru_cache(maxsize=512)
def picture(key: str, width: int, height: int) -> Pixels:
    """The picture of that key, `width` × `height`. The same key always gives the same picture."""
    seed = zlib.crc32(key.encode())
    rng = np.random.default_rng(seed)
    top, bottom = rng.integers(30, 220, 3), rng.integers(30, 220, 3)
    share = np.linspace(0, 1, height)[:, None, None]
    gradient = top * (1 - share) + bottom * share
    return np.broadcast_to(gradient, (height, width, 3)).astype(np.uint8)
