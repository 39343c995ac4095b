"""Generate the page of all settings: defaults and allowed values, as the code declares them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator

from distrl.bounds import description
from distrl.config.toml_writer import plain
from distrl.config.training_config import TrainingConfig
from distrl.config.typed_reader import named_section_of, section_of, settings_of
from distrl.planning.plan_settings import PlanSettings

INTRODUCTION = """# Settings

Made from the code. A run's settings are a TOML file with these tables (`distrl train FILE`),
changed by words: `--set devices.count=4`. What is left out keeps its default.
`distrl train FILE --dry-run` prints them all with what they are, and a run keeps them in
`config.toml`. `"none"` stands for no value.
"""
PLAN = """## Settings of `distrl plan`

A plan is a file of its own: [Plan a bigger system](../plan.md).
"""


def settings_page() -> str:
    run = _sections(TrainingConfig(), TrainingConfig, "")
    plan = _sections(PlanSettings(), PlanSettings, "", level=3)
    return "\n".join([INTRODUCTION, *run, PLAN, *plan])


def _sections(section: object, kind: type, path: str, level: int = 2) -> Iterator[str]:
    """Yield a table of the section's own settings, then its sections."""
    hints = settings_of(kind)
    own = {
        name: hint
        for name, hint in hints.items()
        if section_of(hint) is None and named_section_of(hint) is None
    }
    if path:
        yield f"{'#' * level} `[{path}]`\n"
        yield from _about(kind, off=section is None)
    if own:
        yield "| setting | default | |\n|---|---|---|"
        yield from (_row(name, hint, section, kind) for name, hint in own.items())
        yield ""
    for name, hint in hints.items():
        if (inner := section_of(hint)) is not None:
            value = getattr(section, name) if section is not None else None
            yield from _sections(value, inner, f"{path}.{name}" if path else name, level)
        elif (inner := named_section_of(hint)) is not None:
            yield from _named_sections(inner, name, level)


def _named_sections(kind: type, name: str, level: int) -> Iterator[str]:
    """Yield a table of a section that users name; its subsections are those of a run."""
    hints = settings_of(kind)
    sections = [each for each, hint in hints.items() if section_of(hint) is not None]
    yield f"{'#' * level} `[{name}.NAME]`\n"
    yield from _about(kind, off=False)
    listed = ", ".join(f"`[{name}.NAME.{each}]`" for each in sections)
    yield f"And the sections {listed}, as above.\n"
    yield "| setting | default | |\n|---|---|---|"
    yield from (_row(e, hint, None, kind) for e, hint in hints.items() if e not in sections)
    yield ""


def _about(kind: type, *, off: bool) -> Iterator[str]:
    documented = inspect.getdoc(kind) or ""
    if documented and not documented.startswith(f"{kind.__name__}("):  # not a generated one
        yield f"{documented.split(chr(10) * 2)[0]}\n"
    if off:
        yield "Off by default; giving one of these turns it on.\n"


def _row(name: str, hint: object, section: object, kind: type) -> str:
    value = getattr(section, name) if section is not None else _default(kind, name)
    shown = "" if value is dataclasses.MISSING else f"`{plain(value)}`"
    return f"| `{name}` | {shown} | {description(hint)} |".replace("\n", " ")


def _default(kind: type, name: str) -> object:
    return next(each.default for each in dataclasses.fields(kind) if each.name == name)
