"""A month to look at and to choose a day from: a bar to change the month, and the grid of days.

Weeks begin on Monday. Days with entries carry up to three dots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from phonesim.drawing.theme import Theme
from phonesim.languages.language import Language
from phonesim.scene import Handler, Scene
from phonesim.toolkit.boxes import Row
from phonesim.toolkit.controls import Button, IconButton
from phonesim.toolkit.widget import Size

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CELL = 40
DISC = 32
MAX_DOTS = 3


def month_of(day: date) -> date:
    """Return the first day of the month of `day`."""
    return day.replace(day=1)


def months_after(month: date, count: int) -> date:
    """Return the month that many months later (earlier if negative)."""
    index = month.year * 12 + month.month - 1 + count
    return date(index // 12, index % 12 + 1, 1)


def day_words(day: date, language: Language | None = None, *, year: bool = False) -> str:
    """Return a day in words: Saturday 14 March."""
    if language is not None:
        return language.date(day, "day_year" if year else "day")
    words = f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]}"
    return f"{words} {day.year}" if year else words


def month_bar(
    month: date, on_turn: Callable[[date], None], on_title: Handler, language: Language
) -> Row:
    """Return the bar: back, the month's name, forward. The name opens a choice of months."""
    tr = language.tr
    return Row(
        [
            IconButton("back", tr("Previous month"), lambda: on_turn(months_after(month, -1))),
            Button(language.date(month, "month"), on_title, "plain"),
            IconButton("forward", tr("Next month"), lambda: on_turn(months_after(month, 1))),
        ],
        stretch=1,
    )


@dataclass(slots=True)
class MonthGrid:
    """The days of a month: today in a tinted disc, the chosen one in a filled disc."""

    month: date
    today: date
    on_pick: Callable[[date], None]
    chosen: date | None = None
    marks: Mapping[date, int] | None = None  # number of entries per day

    def _weeks(self) -> int:
        days = (months_after(self.month, 1) - self.month).days
        return (self.month.weekday() + days + 6) // 7

    def size(self, theme: Theme, width: int) -> Size:
        return width, theme.tiny.line_height + 8 + self._weeks() * CELL

    def place(self, scene: Scene, x: int, y: int, width: int, height: int) -> None:
        theme, cell = scene.theme, width // 7
        left = x + (width - 7 * cell) // 2
        head = theme.tiny.line_height + 8
        for column, name in enumerate(theme.language.formats.weekdays_short):
            rect = (left + column * cell, y, cell, head)
            scene.centred_text(rect, name[:2], theme.tiny, theme.muted)
        day, row = self.month, 0
        while day.month == self.month.month:
            column = day.weekday()
            self._place_day(scene, day, left + column * cell, y + head + row * CELL, cell)
            row += column == 6
            day += timedelta(days=1)

    def _place_day(self, scene: Scene, day: date, x: int, y: int, width: int) -> None:
        theme, behind = scene.theme, scene.background
        here, count = day == self.chosen, (self.marks or {}).get(day, 0)
        ink = theme.on_primary if here else theme.primary if day == self.today else theme.text
        if here or day == self.today:
            fill = theme.primary if here else theme.tint
            scene.rounded(x + (width - DISC) // 2, y, DISC, DISC, DISC // 2, fill)
            scene.background = fill
        face = theme.strong if day == self.today or here else theme.small
        scene.centred_text((x, y, width, DISC), str(day.day), face, ink)
        scene.background = behind
        shown = min(count, MAX_DOTS)
        for dot in range(shown):
            left = x + width // 2 - shown * 3 + dot * 6 + 1
            scene.rounded(left, y + DISC + 2, 4, 4, 2, theme.primary)
        said = day_words(day, theme.language)
        events = theme.language.plural("{count} event", "{count} events", count)
        scene.element(
            "day",
            str(day.day),
            (x, y, width, CELL),
            detail=f"{said}, {events}" if count else said,
            on_tap=lambda: self.on_pick(day),
            selected=here,
        )
