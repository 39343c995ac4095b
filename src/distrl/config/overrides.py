"""Convert the overrides that a script passes to words of the form that `--set` takes.

["run.minutes=2", "devices.count=4"], "run.minutes=2", {"run.minutes": 2}, {"run": {"minutes": 2}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from pathlib import Path

from distrl.config.toml_writer import plain
from distrl.config.training_config import TrainingConfig
from distrl.config.typed_reader import is_free_table
from distrl.errors import InvalidSetting

Overrides = str | Iterable[str] | Mapping[str, object]


def override_words(given: Overrides) -> list[str]:
    """Return each override as one word, NAME=VALUE."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        return list(_words(given, ""))
    words: list[object] = list(given) if isinstance(given, Iterable) else [given]
    if wrong := [each for each in words if not isinstance(each, str)]:
        raise InvalidSetting(
            f"{wrong[0]!r:.60} changes no setting: give words such as 'devices.count=4', or a dict "
            "such as {'devices.count': 4}"
        )
    return [str(each) for each in words]


def _words(table: Mapping[str, object], path: str) -> Iterator[str]:
    for name, value in table.items():
        at = f"{path}{name}"
        if isinstance(value, Mapping) and value:
            if is_free_table(TrainingConfig, at):
                value = {json.dumps(str(key)): each for key, each in value.items()}
            yield from _words(value, f"{at}.")
        else:
            yield f"{at}={_plain(at, value)}"


def _plain(name: str, value: object) -> str:
    match value:
        case Path():
            return plain(str(value))
        case None | bool() | str() | Mapping():
            return plain(value)
        case Integral():  # numpy's integers have another repr
            return plain(int(value))
        case Real():
            return plain(float(value))
        case tuple() | list():
            return f"[{', '.join(_plain(name, each) for each in value)}]"
    raise InvalidSetting(f"{name}={value!r:.60}: give a number, a text, a list or a dict of these")
