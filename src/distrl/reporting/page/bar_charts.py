"""Bars: how often each number came, and what the whole was made of as time went on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from distrl.reporting.page.frame import BOTTOM, LEFT, RIGHT, TOP, Axis, Frame, box, svg, words
from distrl.reporting.page.markup import Markup, tag
from distrl.reporting.page.scale import Scale, ticks


@dataclass(frozen=True, slots=True)
class Histogram:
    """Shares of the whole, by name, in order."""

    counts: Mapping[str, int]
    label: str
    thing: str  # what was counted

    def draw(self, width: int, height: int = 240) -> Markup:
        total = max(1, sum(self.counts.values()))
        top = max(self.counts.values(), default=0) / total or 1.0
        y = Scale(0.0, top, height - BOTTOM, TOP)
        room = (width - LEFT - RIGHT) / max(1, len(self.counts))
        parts: list[Markup] = []
        for figure in ticks(0.0, top, 4):
            parts.append(box(LEFT, y.at(figure), width - LEFT - RIGHT, 1, "rule"))
            parts.append(words(LEFT - 8, y.at(figure) + 4, f"{figure:.0%}", "tick", "end"))
        for place, (name, count) in enumerate(self.counts.items()):
            left, share = LEFT + place * room, count / total
            hint = f"{name}: {count} {self.thing} ({share:.1%})"
            gap = min(6.0, room * 0.14)
            parts.append(
                box(left + gap, y.at(share), room - 2 * gap, y.at(0) - y.at(share), "bar", hint)
            )
            parts.append(words(left + room / 2, height - BOTTOM + 17, name, "tick"))
        middle = (LEFT + width - RIGHT) / 2
        parts.append(words(middle, height - 4, self.label, "tick"))
        return svg(width, height, *parts, title=f"{self.label}, of {total} {self.thing}")


@dataclass(frozen=True, slots=True)
class StackedBars:
    """Shares of each span of time, one kind on top of the other."""

    across: Axis
    spans: Sequence[Mapping[str, int]]  # oldest first
    kinds: Sequence[str]  # from the ground upwards

    def draw(self, width: int, height: int = 240) -> Markup:
        frame = Frame(width, height, self.across, Axis(0.0, 1.0, "", lambda share: f"{share:.0%}"))
        room = (width - LEFT - RIGHT) / max(1, len(self.spans))
        parts = []
        for place, counts in enumerate(self.spans):
            total, below = sum(counts.values()), 0
            for kind in self.kinds:
                count = counts.get(kind, 0)
                if count:
                    top, floor = frame.y.at((below + count) / total), frame.y.at(below / total)
                    hint = f"{kind.replace('_', ' ')}: {count} of {total}"
                    left = LEFT + place * room + 1
                    parts.append(box(left, top, room - 2, floor - top, f"ending {kind}", hint))
                below += count
        return frame.draw(*parts, title="How episodes ended, as the run went on")

    def legend(self) -> Markup:
        seen = [kind for kind in self.kinds if any(span.get(kind) for span in self.spans)]
        return tag(
            "p", *(legend_entry(f"ending {k}", k.replace("_", " ")) for k in seen), class_="legend"
        )


def legend_entry(kind: str, name: str) -> Markup:
    swatch = svg(12, 12, box(0, 0, 12, 12, kind), title=name)
    return tag("span", swatch, f" {name}")
