"""An episode as a strip of screens: what was done on each, and what the learner thought of it.

Pictures stand in the page itself as data, so that the page can be sent to anybody.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

from distrl.records import Ending
from distrl.reporting.page.markup import Markup, tag
from distrl.reporting.run_records import Film, FilmStep


def film_strip(film: Film, pictures: Path) -> Markup:
    tone = "good" if film.ending is Ending.SUCCESS else "bad" if film.ending.judged else "fault"
    ending = film.ending.value.replace("_", " ")
    said = tag("span", ending, class_=f"chip {tone}")
    why = "" if film.ending is Ending.SUCCESS else film.reason
    about = f"{film.template} · weights {film.weight_version} · {len(film.steps) - 1} steps"
    return tag(
        "article",
        tag("h3", film.instruction),
        tag("p", said, tag("span", about, class_="about"), tag("span", why, class_="why")),
        tag("ol", *_frames(film, pictures), class_="strip", tabindex="0"),
        class_="film",
    )


def _frames(film: Film, pictures: Path) -> Iterator[Markup]:
    for number, step in enumerate(film.steps, start=1):
        last = number == len(film.steps)
        numbered = (
            tag("span", "the end") if last else tag("span", tag("b", str(number)), step.action)
        )
        yield tag(
            "li",
            _picture(step, pictures),
            tag("div", numbered, class_="action", title=step.action),
            *_thoughts(step),
        )


def _picture(step: FilmStep, pictures: Path) -> Markup:
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


def _thoughts(step: FilmStep) -> Iterator[Markup]:
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
