"""Write a config as TOML, section by section, with the range or the meaning of every setting.

`load_config` reads it back to an equal config. `distrl train --dry-run` prints it, and a run leaves
it in its directory, with a checksum in the first line: a digit that a disk has changed would be
another experiment.
"""

from __future__ import annotations

import dataclasses
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from typing import Any

from distrl.bounds import description
from distrl.config.typed_reader import setting_names, settings_of

CHECKSUM = "# crc32 of the lines below: {:08x} (leave this line out when you change one)\n"


def with_checksum(text: str) -> str:
    return CHECKSUM.format(zlib.crc32(text.encode())) + text


def is_as_written(content: bytes) -> bool:
    """Whether the lines are those that the checksum was made of; True where there is none."""
    if not content.startswith(b"#"):
        return bool(content)
    first, _, rest = content.partition(b"\n")
    return first + b"\n" == CHECKSUM.format(zlib.crc32(rest)).encode()


def to_toml(config: object) -> str:
    """Write every setting of a config."""
    return "\n".join(_section(config, "")).strip() + "\n"


def changes_to_toml(config: Any) -> str:
    """Write the settings that differ from the defaults of their class."""
    default, sections = type(config)(), dict[str, list[str]]()
    for full in setting_names(type(config)):
        section, _, name = full.rpartition(".")
        value = _at(config, full)
        if value is not MISSING and value != _at(default, full):
            sections.setdefault(section, []).append(f"{name} = {_plain(value)}")
    return "\n\n".join("\n".join((f"[{at}]", *lines)) for at, lines in sections.items()) + "\n"


def _at(config: object, full_name: str) -> object:
    """The value of that setting; `MISSING` in a section that is none."""
    for name in full_name.split("."):
        if config is None:
            return MISSING
        config = getattr(config, name)
    return config


def _section(section: object, path: str) -> Iterator[str]:
    hints = settings_of(type(section))
    values = {name: getattr(section, name) for name in hints}
    tables = {name: value for name, value in values.items() if _is_table(value)}
    plain = {name: value for name, value in values.items() if name not in tables}
    if plain:
        yield from (["", f"[{path}]"] if path else [])
        for name, value in plain.items():
            line = f"{name} = {_plain(value)}"
            yield f"{line:40}  # {description(hints[name])}".rstrip(" #")
    for name, value in tables.items():
        at = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from ("", f"[{at}]  # {description(hints[name])}")
            yield from (f"{json.dumps(str(key))} = {_plain(each)}" for key, each in value.items())
        else:
            yield from _section(value, at)


def _is_table(value: object) -> bool:
    return dataclasses.is_dataclass(value) or (isinstance(value, Mapping) and bool(value))


def _plain(value: object) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, Mapping):
        return "{}"  # one with entries is a table of its own
    return repr(value)
