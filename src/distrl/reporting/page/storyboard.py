"""An episode as a strip of screens: what was done on each, and what the learner thought of it.

Pictures stand in the page itself as data, so that the page can be sent to anybody.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

from distrl.records import Ending
from distrl.reporting.page.markup import Markup, tag
from distrl.runs.run_records import RecordedStep, Recording


def storyboard(recording: Recording, pictures: Path) -> Markup:
    tone = (
        "good"
        if recording.ending is Ending.SUCCESS
        else "bad"
        if recording.ending.judged
        else "fault"
    )
    ending = recording.ending.value.replace("_", " ")
    said = tag("span", ending, class_=f"chip {tone}")
    why = "" if recording.ending is Ending.SUCCESS else recording.reason
    steps = len(recording.steps) - 1
    about = f"{recording.template} · weights {recording.weight_version} · {steps} steps"
    return tag(
        "article",
        tag("h3", recording.instruction),
        tag("p", said, tag("span", about, class_="about"), tag("span", why, class_="why")),
        tag("ol", *_frames(recording, pictures), class_="strip", tabindex="0"),
        class_="recording",
    )


def _frames(recording: Recording, pictures: Path) -> Iterator[Markup]:
    for number, step in enumerate(recording.steps, start=1):
        last = number == len(recording.steps)
        numbered = (
            tag("span", "the end") if last else tag("span", tag("b", str(number)), step.action)
        )
        yield tag(
            "li",
            _picture(step, pictures),
            tag("div", numbered, class_="action", title=step.action),
            *_thoughts(step),
        )


def _picture(step: RecordedStep, pictures: Path) -> Markup:
    file = pictures / step.picture
    if not file.is_file():
        return tag("div", "this picture is gone", class_="gone")
    kind = file.suffix.removeprefix(".")
    data = base64.b64encode(file.read_bytes()).decode("ascii")
    return Markup(
        tag(
            "img", src=f"data:image/{kind};base64,{data}", alt=step.action, loading="lazy"
        ).removesuffix("</img>")
    )


def _thoughts(step: RecordedStep) -> Iterator[Markup]:
    """The value as a bar and a figure, ratio and advantage as figures."""
    if step.value is not None:
        share = min(1.0, max(0.0, step.value))
        bar = tag("span", class_="fill", style=f"width:{share:.0%}")
        yield tag("div", bar, class_="value", title="value: the critic's chance of success")
    parts = []
    if step.value is not None:
        parts.append(tag("span", tag("i", "V"), f"{step.value:.2f}"))
    if step.ratio is not None:
        parts.append(tag("span", tag("i", "ρ"), f"{step.ratio:.2f}"))
    if step.advantage is not None:
        tone = "good" if step.advantage > 0.005 else "bad" if step.advantage < -0.005 else ""
        figure = f"{step.advantage:+.2f}".replace("-", "−")
        parts.append(tag("span", tag("i", "A"), figure, class_=tone))
    if parts:
        yield tag("div", *parts, class_="thoughts")
