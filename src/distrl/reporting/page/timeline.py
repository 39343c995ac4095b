"""When each device was busy: a row for each, dark where it played, pale where it waited.

Time is cut into narrow spans and the idle share of each gives its shade, so that a run of any
length stays small; ticks mark the episodes that the world broke.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distrl.reporting.page.frame import LEFT, RIGHT, box, line, svg, words
from distrl.reporting.page.markup import Markup
from distrl.reporting.page.scale import Scale, short, ticks, time_unit
from distrl.runs.run_records import EpisodeLine

MAX_ROWS = 40
SPANS = 160
LEAST_IDLE = 0.02  # of a span: below, it counts as busy
FOOT = 36


@dataclass(frozen=True, slots=True)
class Timeline:
    """The devices of a run from second 0 to `seconds`."""

    episodes: Sequence[EpisodeLine]
    seconds: float

    @property
    def devices(self) -> list[str]:
        """Sorted as people count: phone-2 before phone-10."""
        names = {episode.device for episode in self.episodes}
        return sorted(names, key=lambda name: (len(name), name))

    def busy(self, device: str, spans: int = SPANS) -> list[float]:
        """The share of each span that the device spent in episodes."""
        length = self.seconds / spans
        seconds = [0.0] * spans
        for episode in self.episodes:
            if episode.device != device:
                continue
            first = min(spans - 1, max(0, int(episode.began / length)))
            last = min(spans - 1, max(0, int(episode.ended / length)))
            for span in range(first, last + 1):
                begin = max(episode.began, span * length)
                end = min(episode.ended, (span + 1) * length)
                seconds[span] += max(0.0, end - begin)
        return [min(1.0, each / length) for each in seconds]

    @property
    def busy_share(self) -> float:
        """Of all devices, over the whole run."""
        if not self.episodes or not self.seconds:
            return 0.0
        played = sum(episode.ended - episode.began for episode in self.episodes)
        return min(1.0, played / (self.seconds * len(self.devices)))

    def draw(self, width: int) -> Markup:
        devices = self.devices[:MAX_ROWS]
        row = 22 if len(devices) <= 12 else 12
        height = len(devices) * row + FOOT
        x = Scale(0.0, self.seconds, LEFT + 16, width - RIGHT)
        parts: list[Markup] = []
        for number, device in enumerate(devices):
            parts += self._row(device, x, number * row, row - 4)
        unit = time_unit(self.seconds)
        for figure in ticks(0.0, self.seconds / unit.seconds, max(5, width // 90)):
            parts.append(words(x.at(figure * unit.seconds), height - 20, short(figure), "tick"))
        parts.append(words((x.start + x.end) / 2, height - 4, unit.name, "tick"))
        return svg(width, height, *parts, title="When each device was busy")

    def _row(self, device: str, x: Scale, top: float, height: float) -> list[Markup]:
        parts = [box(x.start, top, x.end - x.start, height, "busy")]
        if height > 10:
            parts.append(words(x.start - 6, top + height - 4, device[-9:], "tick", "end"))
        shares = self.busy(device)
        wide = (x.end - x.start) / len(shares)
        for span, share in enumerate(shares):
            if share < 1.0 - LEAST_IDLE:
                shade = f"idle shade{min(9, int((1.0 - share) * 10))}"
                hint = f"{device}: {share:.0%} busy"
                parts.append(box(x.start + span * wide, top, wide + 0.3, height, shade, hint))
        for episode in self.episodes:
            if episode.device == device and not episode.judged:
                at = x.at(episode.ended)
                parts.append(line(at, top, at, top + height, "fault"))
        return parts
