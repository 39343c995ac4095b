"""Parse words that change a setting, as `--set` takes them: NAME=VALUE, with a TOML value.

A part of the name that contains a dot is quoted: `devices.android.app_names."Amazon.com"=x.y`.
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
    """Put the setting that a word gives into the tree."""
    given = WORD.fullmatch(word)
    path = _path_of(given["name"].strip()) if given else []
    if not given or not path:
        raise InvalidSetting(
            f"--set {word}: give a setting and its value, such as --set replay.capacity=500"
        )
    text = given["value"].strip()
    _put(tree, path, plant(_value_of(text), f"--set {word}", text))


def _path_of(name: str) -> list[str]:
    """Split a name at its dots, except in quotes as in TOML; return [] for an invalid name."""
    parts = [part.strip() for part in PART.findall(name)]
    if ".".join(parts) != name or not all(parts):
        return []
    try:
        return [json.loads(part) if part.startswith('"') else part for part in parts]
    except ValueError:
        return []


def _put(tree: dict[str, Node], path: Sequence[str], value: Node) -> None:
    """Put the setting into the tree, at a path of section names and its own name."""
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
    """Parse a TOML value; anything else is a string."""
    try:
        return loads_toml(f"value = {text}")["value"]
    except ValueError:
        return text
