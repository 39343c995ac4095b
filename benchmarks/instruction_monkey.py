"""A random player without a model that prefers to tap what its instruction names.

It shows that a page can be done, not how to do it: fields get quoted words or words of the
instruction, lists are dragged, and the probability of a Submit button grows with every step.
"""

from __future__ import annotations

import random
import re

from distrl.hierarchy import Element
from distrl.records import Action, Enter, Swipe, Tap, TypeText

QUOTED = re.compile(r"[\"“”']([^\"“”']{1,60})[\"“”']")
SUBMIT = re.compile(r"(submit|ok|done|search|send|next|login|log ?in|sign|yes|enter|>)$", re.I)
AFTER = re.compile(r"(?:enter|type|write|select|choose|is|the text|for)\s+([\w./:@-]+)", re.I)


class InstructionMonkey:
    """Plays one episode of an instruction on a screen of the given size."""

    def __init__(self, instruction: str, size: tuple[int, int], seed: str) -> None:
        self.instruction = instruction
        self._size = size
        self._random = random.Random(seed)
        self._words = QUOTED.findall(instruction) + AFTER.findall(instruction)
        self._texts = self._words + re.findall(r"[\w.:/@-]+", instruction)
        self._typing = False
        self._steps = 0

    def act(self, elements: tuple[Element, ...]) -> Action:
        self._steps += 1
        if self._typing:
            self._typing = False
            pool = self._words if self._words and self._random.random() < 0.8 else self._texts
            return TypeText(self._random.choice(pool or ["a"]))
        kind = self._random.random()
        if kind < 0.06:
            return self._drag(elements)
        if kind < 0.09:
            return Enter()
        usable = [each for each in elements if each.clickable and each.enabled]
        if not usable or kind < 0.14:
            return Tap(self._random.random(), self._random.uniform(0.15, 0.65))
        [chosen] = self._random.choices(usable, [self._weight(each) for each in usable])
        self._typing = chosen.role == "field" and not chosen.value
        return self._tap(chosen)

    def _weight(self, element: Element) -> float:
        text = element.text.strip().lower()
        if SUBMIT.search(text):
            return 0.3 * self._steps
        if element.role == "field":
            return 0.2 if element.value else 6.0
        named = len(text) > 0 and re.search(
            rf"(?<!\w){re.escape(text)}(?!\w)", self.instruction.lower()
        )
        ticked = element.checked or element.selected
        return 0.2 if ticked else (8.0 if named else 0.5)

    def _tap(self, element: Element) -> Tap:
        (x, y), (width, height) = element.centre, self._size
        return Tap(min(1.0, x / width), min(1.0, y / height))

    def _drag(self, elements: tuple[Element, ...]) -> Swipe:
        start = self._tap(self._random.choice(elements)) if elements else Tap(0.5, 0.4)
        to_x, to_y = self._random.random(), self._random.uniform(0.15, 0.65)
        return Swipe(start.x, start.y, to_x, to_y, 0.2)
