"""`report.html`: one page that tells a run to somebody who was not there.

Everything is in the page (drawings as SVG, screens as data, one style sheet), nothing is loaded and
nothing runs, so that it can be mailed, kept for years, and opened anywhere. It is made from the
files of the run directory alone (`run_records`), also while the run goes on or after a crash: a
part that has nothing to show says so.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import distrl
from distrl.reporting.page.markup import Markup, join, tag
from distrl.reporting.page.style import STYLE
from distrl.reporting.report_sections import (
    curve_section,
    devices_section,
    endings_section,
    headline,
    learner_section,
    next_section,
    recordings_section,
    settings_section,
    staleness_section,
    templates_section,
    tiles,
)
from distrl.reporting.run_story import RunStory, read_story
from distrl.runs.run_directory import RunDirectory, write_whole

NOTHING_FROM_OUTSIDE = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_report(run: RunDirectory) -> Path:
    """Write the page anew, and say where it is."""
    write_whole(run.report, report_page(read_story(run)))
    return run.report


def report_page(story: RunStory) -> str:
    """The whole page."""
    name = story.run.path.name
    head = tag(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{NOTHING_FROM_OUTSIDE}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", f"{name} · DistRL"),
        tag("style", Markup(STYLE)),
    )
    body = tag(
        "body",
        tag("main", _header(story), _parts(story), _footer()),
    )
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def _parts(story: RunStory) -> Markup:
    return join(
        [
            headline(story),
            tiles(story),
            curve_section(story),
            templates_section(story),
            devices_section(story),
            tag("div", staleness_section(story), endings_section(story), class_="pair"),
            learner_section(story),
            recordings_section(story),
            next_section(story),
            settings_section(story),
        ]
    )


def _header(story: RunStory) -> Markup:
    return tag("header", tag("h1", story.run.path.name), tag("p", _what(story.run)))


def _what(run: RunDirectory) -> str:
    """The run in one line, from its settings."""
    settings = tomllib.loads(run.config.read_text("utf-8")) if run.config.exists() else {}
    agent, devices = settings.get("agent", {}), settings.get("devices", {})
    parts = [
        "A training run of DistRL",
        settings.get("learning", {}).get("algorithm"),
        f"model {agent['model']}" if "model" in agent else None,
        f"{devices['count']} {devices['kind']} devices" if "count" in devices else None,
        f"seed {settings['run']['seed']}" if "run" in settings else None,
    ]
    return " · ".join(part for part in parts if part)


def _footer() -> Markup:
    return tag(
        "footer",
        "Bands, whiskers and bars beside a rate are 95 % intervals (Wilson). Episodes that the "
        "world broke (a lost device, a crashed app) count neither for nor against the agent. "
        f"Made by distrl {distrl.__version__}.",
    )
