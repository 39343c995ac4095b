"""Screens as `data:` URLs, which is how pictures travel in a chat request.

PNG, so that the server sees the pixels as they are. A screen is encoded once and then remembered
for a while: it comes again as a past screen, and again where nothing has changed.
"""

from __future__ import annotations

import base64
import io
import threading
from collections import OrderedDict

from PIL import Image

from distrl.records import Screen

ImageSize = tuple[int, int]  # width, height
FAST = 1  # zlib's level: a screen takes milliseconds, and its bytes travel once


class PictureUrls:
    """Makes URLs and remembers the last `most` of them. Many threads may ask at once."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._urls: OrderedDict[tuple[str, ImageSize], str] = OrderedDict()
        self._lock = threading.Lock()

    def url(self, screen: Screen, size: ImageSize) -> str:
        """The screen as a picture of that size."""
        key = screen.digest, size
        with self._lock:
            if key in self._urls:
                self._urls.move_to_end(key)
                return self._urls[key]
        url = _encoded(screen, size)
        with self._lock:
            self._urls[key] = url
            while len(self._urls) > self._most:
                self._urls.popitem(last=False)
        return url


def _encoded(screen: Screen, size: ImageSize) -> str:
    picture = Image.fromarray(screen.pixels)
    if picture.size != size:
        picture = picture.resize(size, Image.Resampling.BICUBIC)
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=FAST)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
