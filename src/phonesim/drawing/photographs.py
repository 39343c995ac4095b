"""Invented photographs: small scenes chosen by a word, with a camera's grain and vignette.

The first known word of the name picks the scene ("beach 3" and "Beach party" both show the beach);
a name without a known word gets a scene by its hash. An rng seeded with the name decides light,
colours and positions: different names give different pictures, one name always the same.
"""

from __future__ import annotations

import random
import re
import zlib

import numpy as np

from distrl.records import Pixels
from phonesim.drawing.brush import Brush
from phonesim.drawing.colors import BLACK
from phonesim.drawing.photo_outdoors import OUTDOORS
from phonesim.drawing.photo_subjects import SUBJECTS
from phonesim.drawing.photo_tones import Scene

SCENES: dict[str, Scene] = {**OUTDOORS, **SUBJECTS}

SAME_AS: dict[str, str] = {
    "sea": "boat", "ocean": "beach", "coast": "beach", "holiday": "beach", "summer": "beach",
    "island": "beach", "harbour": "boat", "sailing": "boat", "ship": "boat", "ferry": "boat",
    "mountains": "mountain", "hike": "mountain", "hiking": "mountain", "peak": "mountain",
    "ski": "snow", "winter": "snow", "trail": "forest", "woods": "forest", "tree": "forest",
    "park": "meadow", "garden": "meadow", "field": "meadow", "hill": "meadow", "spring": "meadow",
    "street": "city", "town": "city", "skyline": "city", "office": "city", "concert": "night",
    "party": "night", "evening": "sunset", "sunrise": "sunset", "morning": "sunset",
    "dawn": "sunset", "home": "house", "cabin": "house", "cottage": "house", "kitten": "cat",
    "pet": "cat", "puppy": "dog", "friend": "portrait", "family": "portrait", "selfie": "portrait",
    "people": "portrait", "team": "portrait", "face": "portrait", "dinner": "food", "lunch": "food",
    "breakfast": "food", "recipe": "food", "pasta": "food", "soup": "food", "salad": "food",
    "pizza": "food", "birthday": "cake", "dessert": "cake", "tea": "coffee", "cafe": "coffee",
    "roses": "flower", "flowers": "flower", "rose": "flower", "tulip": "flower", "plant": "flower",
    "road": "car", "drive": "car", "trip": "car", "receipt": "document", "invoice": "document",
    "letter": "document", "scan": "document", "notes": "document", "bill": "document",
    "paper": "document", "moon": "night", "stars": "night", "river": "lake", "pond": "lake",
}  # fmt: skip


def _words(name: str) -> list[str]:
    return [match.group() for match in re.finditer("[a-z]+", name.casefold())]


def scene_of(name: str) -> str:
    """Return the key in `SCENES` that a name stands for."""
    for word in _words(name):
        if word in SCENES:
            return word
        if word in SAME_AS:
            return SAME_AS[word]
    everything = sorted(SCENES)
    return everything[zlib.crc32(name.encode()) % len(everything)]


def draw_photograph(name: str, width: int, height: int) -> Pixels:
    rng = random.Random(f"photo/{name}")
    brush = Brush(width, height, BLACK)
    SCENES[scene_of(name)](brush, rng)
    return _grain(brush.pixels(), zlib.crc32(name.encode()))


def _grain(pixels: Pixels, seed: int) -> Pixels:
    """Add a vignette and a little noise, as a lens and a sensor would."""
    height, width, _ = pixels.shape
    across = (2 * np.arange(width) - width + 1) ** 2 * 256 // max(1, width * width)
    down = (2 * np.arange(height) - height + 1) ** 2 * 256 // max(1, height * height)
    light = 256 - (down[:, None] + across[None]) // 9  # [height, width], of 256
    noise = np.random.default_rng(seed).integers(-3, 4, (height, width))
    exposed = pixels.astype(np.int64) * light[..., None] // 256 + noise[..., None]
    finished: Pixels = np.clip(exposed, 0, 255).astype(np.uint8)
    return finished
