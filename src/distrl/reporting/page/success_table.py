"""Success before and after, template by template: a row of two dots on a line from 0 to 100 %."""

from __future__ import annotations

from collections.abc import Sequence

from distrl.episodes.outcome import SuccessRate
from distrl.reporting.page.frame import line, svg
from distrl.reporting.page.markup import Markup, join, tag
from distrl.reporting.page.scale import Scale
from distrl.runs.run_records import EvaluationLine

WIDTH, HEIGHT, EDGE = 320, 22, 8
MAX_ROWS = 26  # without unfolding


def success_table(before: EvaluationLine, after: EvaluationLine) -> Markup:
    """The whole first, then the templates, those that gained most first; many are folded away."""
    rows = [_row("all of them", before.rate, after.rate, "whole")]
    rows += [_row(name, old, new, "") for name, old, new in _pairs(before, after)]
    shown, folded = rows[:MAX_ROWS], rows[MAX_ROWS:]
    table = tag("table", tag("thead", _head()), tag("tbody", *shown), class_="success")
    if not folded:
        return table
    rest = tag("table", tag("tbody", *folded), class_="success")
    return join([table, tag("details", tag("summary", f"{len(folded)} more"), rest)])


def _head() -> Markup:
    return tag(
        "tr",
        tag("th", "task"),
        tag("th", "0 %", tag("span", "100 %"), class_="scale"),
        tag("th", "before", class_="number"),
        tag("th", "after", class_="number"),
        tag("th", "gain", class_="number"),
    )


def _pairs(
    before: EvaluationLine, after: EvaluationLine
) -> Sequence[tuple[str, SuccessRate, SuccessRate]]:
    old = {each.template: SuccessRate(each.successes, each.episodes) for each in before.templates}
    new = {each.template: SuccessRate(each.successes, each.episodes) for each in after.templates}
    nothing = SuccessRate(0, 0)
    pairs = [(name, old.get(name, nothing), new.get(name, nothing)) for name in {**old, **new}]
    return sorted(pairs, key=lambda pair: (-_gain(pair[1], pair[2]), pair[0]))


def _gain(before: SuccessRate, after: SuccessRate) -> float:
    return after.rate - before.rate if before.episodes and after.episodes else 0.0


def _row(name: str, before: SuccessRate, after: SuccessRate, kind: str) -> Markup:
    gain = _gain(before, after)
    tone = "good" if gain > 0.0 else "bad" if gain < 0.0 else ""
    return tag(
        "tr",
        tag("th", name, scope="row"),
        tag("td", _dumbbell(before, after), class_="scale"),
        tag("td", _count(before), class_="number"),
        tag("td", _count(after), class_="number"),
        tag("td", f"{100 * gain:+.0f}".replace("-", "−"), class_=f"number {tone}".strip()),
        class_=kind,
    )


def _count(rate: SuccessRate) -> Markup:
    if not rate.episodes:
        return tag("span", "–")
    low, high = rate.interval
    hint = f"95 % interval {low:.0%} to {high:.0%}"
    return tag(
        "span", f"{rate.rate:.0%} ", tag("small", f"{rate.successes}/{rate.episodes}"), title=hint
    )


def _dumbbell(before: SuccessRate, after: SuccessRate) -> Markup:
    x, y = Scale(0.0, 1.0, EDGE, WIDTH - EDGE), HEIGHT / 2
    parts = [line(EDGE, y, WIDTH - EDGE, y, "grid")]
    for rate, kind in ((before, "was"), (after, "is")):
        if rate.episodes:
            low, high = rate.interval
            parts.append(line(x.at(low), y, x.at(high), y, f"span {kind}"))
    for rate, kind in ((before, "was"), (after, "is")):
        if rate.episodes:
            parts.append(tag("circle", cx=x.at(rate.rate), cy=y, r=5, class_=kind))
    return svg(WIDTH, HEIGHT, *parts, title="before and after, with 95 % intervals")
