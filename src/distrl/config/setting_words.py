"""Words that change a setting, as `--set` takes them: NAME=VALUE, the value as TOML has it.

A part of the name that has a dot itself is quoted: `devices.android.app_names."Amazon.com"=x.y`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from distrl.config.typed_reader import Given, Node, plant
from distrl.errors import InvalidSetting
from distrl.toml_file import loads_toml

WORD = re.compile(r'(?P<name>(?:"(?:[^"\\]|\\.)*"|[^"=])*)=(?P<value>.*)', re.DOTALL)
PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^".]+')


def put_word(tree: dict[str, Node], word: str) -> None:
    """Set the setting that a word names."""
    given = WORD.fullmatch(word)
    path = _path_of(given["name"].strip()) if given else []
    if not given or not path:
        raise InvalidSetting(
            f"--set {word}: give a setting and its value, such as --set replay.capacity=500"
        )
    text = given["value"].strip()
    _put(tree, path, plant(_value_of(text), f"--set {word}", text))


def _path_of(name: str) -> list[str]:
    """Its sections and its own name; as in TOML, what has a dot may be quoted. [] for no name."""
    parts = [part.strip() for part in PART.findall(name)]
    if ".".join(parts) != name or not all(parts):
        return []
    try:
        return [json.loads(part) if part.startswith('"') else part for part in parts]
    except ValueError:
        return []


def _put(tree: dict[str, Node], path: Sequence[str], value: Node) -> None:
    """Set the setting at the end of a path through sections."""
    *sections, last = path
    here = tree
    for place, section in enumerate(sections, start=1):
        inside = here.setdefault(section, {})
        if isinstance(inside, Given):
            at = ".".join(path[:place])
            raise InvalidSetting(f"{at}={inside.value!r} ({inside.source}): {at} is a section")
        here = inside
    here[last] = value


def _value_of(text: str) -> object:
    """As TOML has it, and a bare word as a text."""
    try:
        return loads_toml(f"value = {text}")["value"]
    except ValueError:
        return text
