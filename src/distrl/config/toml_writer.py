"""Write a config as TOML, section by section, with the range or the meaning of every setting.

`load_config` reads it back to an equal config. `distrl train --dry-run` prints it, and a run writes
it to its directory, with a checksum in the first line: a digit that a faulty disk changed would
silently make it another experiment.
"""

from __future__ import annotations

import dataclasses
import json
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from distrl.bounds import description
from distrl.config.typed_reader import settings_of

if TYPE_CHECKING:
    from distrl.config.training_config import TrainingConfig

CHECKSUM = "# crc32 of the lines below: {:08x} (leave this line out when you change one)\n"


def with_checksum(text: str) -> str:
    return CHECKSUM.format(zlib.crc32(text.encode())) + text


def is_as_written(content: bytes) -> bool:
    """Return whether the content matches its checksum; True if it has no checksum."""
    if not content.startswith(b"#"):
        return bool(content)
    first, _, rest = content.partition(b"\n")
    return first + b"\n" == CHECKSUM.format(zlib.crc32(rest)).encode()


def to_toml(config: TrainingConfig) -> str:
    """Write every setting of a config, except those that are unused in it."""
    return "\n".join(_section(config, "", config.unused)).strip() + "\n"


def tables_to_toml(tables: Mapping[str, Any], path: str = "") -> str:
    """Write plain tables as `tomllib` returns them, including free tables such as app names."""
    inner = {name: value for name, value in tables.items() if isinstance(value, Mapping)}
    own = [f"{_key(name)} = {plain(value)}" for name, value in tables.items() if name not in inner]
    parts = ["\n".join([*([f"[{path}]"] if path else []), *own]) + "\n"] if own else []
    for name, value in inner.items():
        parts.append(tables_to_toml(value, f"{path}.{_key(name)}" if path else _key(name)))
    return "\n".join(parts)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _section(section: object, path: str, unused: Collection[str] = ()) -> Iterator[str]:
    hints = settings_of(type(section))
    names = {name: f"{path}.{name}" if path else name for name in hints}
    values = {name: getattr(section, name) for name in hints if names[name] not in unused}
    tables = {name: value for name, value in values.items() if _is_table(value)}
    own = {name: value for name, value in values.items() if name not in tables}
    if own:
        yield from (["", f"[{path}]"] if path else [])
        for name, value in own.items():
            line = f"{name} = {plain(value)}"
            yield f"{line:40}  # {description(hints[name])}".rstrip(" #")
    for name, value in tables.items():
        at = names[name]
        if not isinstance(value, Mapping):
            yield from _section(value, at, unused)
        elif all(map(dataclasses.is_dataclass, value.values())):
            for key, each in value.items():
                yield from _section(each, f"{at}.{key}")
        else:
            yield from ("", f"[{at}]  # {description(hints[name])}")
            yield from (f"{json.dumps(str(key))} = {plain(each)}" for key, each in value.items())


def _is_table(value: object) -> bool:
    return dataclasses.is_dataclass(value) or (isinstance(value, Mapping) and bool(value))


def plain(value: object) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(plain, value))}]"
    if isinstance(value, Mapping):
        return "{}"  # a mapping with entries is written as its own table
    return repr(value)
