"""Read tables of plain values, from TOML or flags, into frozen dataclasses.

Types are strict: no value is cast, except an integer where a float is expected. A value that is not
given keeps its default. Every error names the key, the value, what would be allowed and where the
value came from; for an unknown key it suggests the nearest known ones. None is "none" in TOML,
which has no null. msgspec checks single values; sections are read here, because `msgspec.convert`
ignores unknown keys of dataclasses, does not track sources, and loses the path when `__post_init__`
raises.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin

import msgspec

from distrl.bounds import Fixed, admits, alternatives, declared, hints_of, wanted
from distrl.errors import InvalidSetting
from distrl.toml_file import read_toml_file

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Given:
    """A value and the file or flag it came from; `word`: the value of a flag as typed."""

    value: object
    source: str
    word: str | None = None


Node = Given | dict[str, "Node"]


def plant(value: object, source: str, word: str | None = None) -> Node:
    """Convert plain data to nodes that carry their source."""
    if isinstance(value, dict):
        return {str(key): plant(each, source, word) for key, each in value.items()}
    return Given(value, source, word)


def leaves(node: Node, path: str = "") -> Iterator[tuple[str, Given]]:
    """Yield the full name and the value of every setting in the tree."""
    if isinstance(node, Given):
        yield path, node
    else:
        for name, each in node.items():
            yield from leaves(each, _join(path, name))


def read_toml(path: Path) -> dict[str, Node]:
    try:
        content = read_toml_file(path)
    except FileNotFoundError:
        raise InvalidSetting(f"there is no config file {path}; check its name") from None
    except OSError as error:
        raise InvalidSetting(f"config file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidSetting(f"config file {path} is not UTF-8 text ({error.reason})") from error
    except ValueError as error:
        raise InvalidSetting(f"config file {path} is not valid TOML: {error}") from error
    return {name: plant(value, f"in {path}") for name, value in content.items()}


def read_section(default: T, tree: dict[str, Node]) -> T:
    """Read a section from the tree; settings that it lacks come from `default`."""
    return cast("T", _read_section(type(default), tree, "", default))


@cache
def section_of(hint: Any) -> type | None:
    """Return the dataclass in an annotation, also in `… | None`; None if there is none."""
    kinds = [kind for kind in alternatives(hint) if dataclasses.is_dataclass(kind)]
    return cast("type", kinds[0]) if kinds else None


def named_section_of(hint: Any) -> type | None:
    """Return the dataclass of a table whose keys are section names that users choose."""
    [first, *_] = alternatives(hint)
    return section_of(get_args(first)[1]) if get_origin(first) in (Mapping, dict) else None


def settings_of(kind: type) -> dict[str, Any]:
    """Return the annotations of all fields that are settings (not `Fixed`)."""
    return {name: hint for name, hint in hints_of(kind).items() if declared(hint, Fixed) is None}


def setting_names(kind: type, path: str = "") -> Iterator[str]:
    """Yield the full name of every setting; skip sections whose names users choose."""
    for name, hint in settings_of(kind).items():
        section = section_of(hint)
        if section is not None:
            yield from setting_names(section, _join(path, name))
        elif named_section_of(hint) is None:
            yield _join(path, name)


def is_free_table(kind: type, name: str) -> bool:
    """Return whether the setting of that full name is a table whose keys users choose."""
    first, _, rest = name.partition(".")
    hint = settings_of(kind).get(first)
    if hint is None:
        return False
    if section := section_of(hint):
        return is_free_table(section, rest)
    if named := named_section_of(hint):
        return is_free_table(named, rest.partition(".")[2])
    return not rest and get_origin(alternatives(hint)[0]) in (Mapping, dict)


def is_given(tree: Node, name: str) -> bool:
    """Return whether a tree has that setting, or a value such as "none" for a section around it."""
    for part in name.split("."):
        if isinstance(tree, Given):
            return True
        if part not in tree:
            return False
        tree = tree[part]
    return True


def _read(hint: Any, node: Node, at: str, default: object = None) -> object:
    section, kinds = section_of(hint), alternatives(hint)
    if NoneType in kinds and isinstance(node, Given) and node.value in (None, "none"):
        return None
    if section is not None:
        return _read_section(section, node, at, default)
    if get_origin(kinds[0]) in (Mapping, dict):
        return _read_mapping(hint, node, at)
    if isinstance(node, dict):
        raise InvalidSetting(
            f"{at} is a single setting, but {_source(node)} has a section of that name; "
            f"give {wanted(hint)}"
        )
    if get_origin(kinds[0]) is tuple:
        return _read_tuple(hint, node, at)
    if str in kinds and node.word is not None and not isinstance(node.value, str):
        node = dataclasses.replace(node, value=node.word)  # --set run.name=7 means the string "7"
    try:
        value: object = msgspec.convert(node.value, hint)
    except msgspec.ValidationError:
        raise _refused(at, node, hint) from None
    if not admits(hint, value):
        raise _refused(at, node, hint)
    return value


def _read_tuple(hint: Any, node: Given, at: str) -> tuple[object, ...]:
    element, values = get_args(alternatives(hint)[0])[0], node.value
    if isinstance(values, str) and node.word is not None:  # --set tasks.templates=one,two
        values = [each.strip() for each in values.split(",") if each.strip()]
    if not isinstance(values, list):
        raise _refused(at, node, hint)
    nodes = [plant(value, node.source) for value in values]
    return tuple(_read(element, each, f"{at}[{i}]") for i, each in enumerate(nodes))


def _read_mapping(hint: Any, node: Node, at: str) -> dict[object, object]:
    key_kind, value_kind = get_args(alternatives(hint)[0])
    if not isinstance(node, dict):
        raise _refused(at, node, hint)
    found: dict[object, object] = {}
    for name, each in node.items():
        if key_kind is int and not re.fullmatch(r"0|-?[1-9]\d{0,17}", name):
            raise InvalidSetting(f"{at}.{name} ({_source(each)}): {name!r} is no whole number")
        key = int(name) if key_kind is int else name
        found[key] = _read(value_kind, each, _join(at, name))
    return found


def _read_section(kind: type, node: Node, at: str, default: object) -> object:
    if not isinstance(node, dict):
        raise InvalidSetting(
            f"{at}={node.value!r} ({node.source}): {at} is a section, not a setting; give "
            f"{' or '.join(list(setting_names(kind, at))[:2])}, for example"
        )
    hints = settings_of(kind)
    for name, each in node.items():
        if name not in hints:
            raise InvalidSetting(_unknown(kind, name, at, _source(each)))
    values = {
        name: _read(hints[name], each, _join(at, name), getattr(default, name, None))
        for name, each in node.items()
    }
    for field in dataclasses.fields(kind) if default is None else ():
        optional = {field.default, field.default_factory} != {dataclasses.MISSING}
        if field.name not in values and not optional:
            raise InvalidSetting(f"{_join(at, field.name)} is missing")
    try:
        if default is None:
            return kind(**values)
        return dataclasses.replace(cast("Any", default), **values)
    except InvalidSetting as error:
        raise InvalidSetting(_blamed(str(error), at, node)) from error


# Sentences of refusals -------------------------------------------------------------------------


def _refused(at: str, node: Node, hint: Any) -> InvalidSetting:
    value = node.value if isinstance(node, Given) else node
    return InvalidSetting(f"{at}={value!r} ({_source(node)}): give {wanted(hint)}")


def _blamed(message: str, at: str, node: Node) -> str:
    """Extend an error of a section's own checks by the full names and sources of its settings."""
    given = dict(leaves(node, at))
    guilty = [name for name in given if _names(message, name)] or list(given)
    if len(guilty) == 1:
        [name] = guilty
        said = re.sub(rf"^[\w.]*\b{_last(name)}=[^\s;]*; ", "", message)
        return f"{name}={given[name].value!r} ({given[name].source}): {said}"
    sources = ", ".join(dict.fromkeys(given[name].source for name in guilty))
    return f"{at}: {message} ({sources})".removeprefix(": ")


def _names(message: str, full_name: str) -> bool:
    return full_name in message or bool(re.search(rf"\b{_last(full_name)}=", message))


def _unknown(kind: type, name: str, at: str, source: str) -> str:
    """Return the error for an unknown key; suggest that name in subsections, or similar names."""
    below, known = list(setting_names(kind, at)), list(settings_of(kind))
    last = {full.rpartition(".")[2]: full for full in below}
    near = (
        [full for full in below if full.endswith(f".{name}")]
        or [_join(at, each) for each in difflib.get_close_matches(name, known, n=2)]
        or [last[each] for each in difflib.get_close_matches(name, last, n=2)]
    )
    hint = f"did you mean {' or '.join(near[:3])}?" if near else f"there are {', '.join(known)}"
    return f"unknown setting {_join(at, name)} ({source}); {hint}"


def _source(node: Node) -> str:
    return next((given.source for _, given in leaves(node)), "an empty section")


def _last(full_name: str) -> str:
    return re.escape(full_name.rpartition(".")[2])


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
