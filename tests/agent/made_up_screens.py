"""Screens of coloured blocks and prompts about them; the same for the same seed."""

from __future__ import annotations

import numpy as np

from distrl.agent.prompt import Prompt
from distrl.records import Screen


def blocks(seed: int, width: int = 120, height: int = 240) -> Screen:
    """Eight by four large blocks, so that even a very small picture of it is unlike any other."""
    colors = np.random.default_rng(seed).integers(0, 256, (8, 4, 3), dtype=np.uint8)
    rows, columns = np.arange(height) * 8 // height, np.arange(width) * 4 // width
    return Screen(colors[rows[:, None], columns[None, :]])


SHORT = Prompt("You operate a phone.", "Goal: add a note.", (blocks(1),))
LONG = Prompt("", 'Goal: add a note that says "Milk, eggs". Done so far: 1. tap', (blocks(2),))
TWO_SCREENS = Prompt("You operate a phone.", "What changed?", (blocks(3), blocks(4)))
