"""Draw the dialogs of pages (alert, confirm, prompt) over the page as a phone does; answer them.

A headless browser does not draw dialogs, and the page is blocked until the dialog is answered. So
we draw the box and its buttons ourselves: they appear in the picture and among the elements, and a
tap on a button answers the dialog. Back dismisses, Enter accepts; text goes into a prompt's field.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from distrl.devices.browser.browser_page import Dialog
from distrl.hierarchy import Element, Rect
from distrl.records import Action, Back, Enter, Pixels, Tap, TypeText

Answer = Literal["accept", "dismiss"]
MAX_MESSAGE = 400  # characters of the message that are shown
SHADE = 0.5  # brightness of the page below
PAPER, INK, LINE, BLUE = (250, 250, 252), (28, 28, 32), (200, 202, 208), (24, 90, 188)


@dataclass(frozen=True, slots=True)
class DialogBox:
    """The layout of a dialog on a screen of `width` × `height` pixels."""

    dialog: Dialog
    width: int
    height: int

    @property
    def _letter(self) -> int:
        return max(10, self.width // 24)  # height of a letter in pixels

    @property
    def _lines(self) -> list[str]:
        columns = max(8, int(self.width * 0.8 / (self._letter * 0.56)))
        lines = textwrap.wrap(self.dialog.message[:MAX_MESSAGE], columns)
        return lines[: max(1, self.height // (3 * self._letter))]

    @property
    def box(self) -> Rect:
        rows = len(self._lines) + (2 if self.dialog.kind == "prompt" else 0) + 4
        high, side = int(rows * self._letter * 1.5), self.width // 20
        top = max(0, (self.height - high) // 2)
        return side, top, self.width - side, min(self.height, top + high)

    @property
    def field(self) -> Rect:
        left, _, right, bottom = self.box
        high = int(self._letter * 1.8)
        end = bottom - int(self._letter * 3.4)
        return left + self._letter, end - high, right - self._letter, end

    def button(self, answer: Answer) -> Rect:
        left, _, right, bottom = self.box
        middle, top = (left + right) // 2, bottom - self._letter * 3
        if self.dialog.kind == "alert":
            return left, top, right, bottom
        return (middle, top, right, bottom) if answer == "accept" else (left, top, middle, bottom)

    @property
    def answers(self) -> tuple[Answer, ...]:
        return ("accept",) if self.dialog.kind == "alert" else ("dismiss", "accept")

    def over(self, page: Pixels) -> Pixels:
        """Draw the dialog over a picture of the page, and return the result."""
        image = Image.fromarray((page * SHADE).astype(np.uint8))
        draw, font = ImageDraw.Draw(image), ImageFont.load_default(self._letter)
        left, top, _, _ = self.box
        draw.rounded_rectangle(self.box, self._letter // 2, PAPER)
        for number, line in enumerate(self._lines):
            place = left + self._letter, top + int((0.7 + 1.5 * number) * self._letter)
            draw.text(place, line, INK, font)
        if self.dialog.kind == "prompt":
            draw.rectangle(self.field, (255, 255, 255), LINE)
            at = self.field[0] + self._letter // 2, self.field[1] + self._letter // 3
            draw.text(at, self.dialog.text[-40:], INK, font)
        for answer in self.answers:
            x, y, right, bottom = self.button(answer)
            draw.line((x, y, right, y), LINE)
            centre = (x + right) // 2, (y + bottom) // 2
            draw.text(centre, LABELS[answer], BLUE, font, anchor="mm")
        return np.array(image)

    def elements(self) -> tuple[Element, ...]:
        """Return message, text field and buttons as elements of the window `dialog`."""
        message = Element("text", self.dialog.message[:MAX_MESSAGE], self.box, window="dialog")
        field = Element(
            "field", "", self.field, value=self.dialog.text, window="dialog", focused=True
        )
        buttons = tuple(
            Element("button", LABELS[answer], self.button(answer), window="dialog", clickable=True)
            for answer in self.answers
        )
        return (message, *([field] if self.dialog.kind == "prompt" else []), *buttons)

    def answer(self, action: Action) -> Answer | None:
        """Return the answer that an action gives; None if it leaves the dialog open."""
        match action:
            case Back():
                return "dismiss"
            case Enter():
                return "accept"
            case Tap(x, y):
                at = x * self.width, y * self.height
                hit = [each for each in self.answers if _inside(at, self.button(each))]
                return hit[0] if hit else None
            case _:
                return None

    def typed(self, action: Action) -> Dialog:
        """Return the dialog after an action that leaves it open: typing extends a prompt's text."""
        if self.dialog.kind == "prompt" and isinstance(action, TypeText):
            return replace(self.dialog, text=self.dialog.text + action.text)
        return self.dialog


LABELS: dict[Answer, str] = {"accept": "OK", "dismiss": "Cancel"}


def _inside(point: tuple[float, float], place: Rect) -> bool:
    (x, y), (left, top, right, bottom) = point, place
    return left <= x <= right and top <= y <= bottom
