"""Tables of plain values, from a TOML or JSON file or from words, into frozen dataclasses.

Strict: a type is what the field says and nothing is cast, but for a whole number where any number
will do. What is not given keeps its default. Every refusal names the key, the value, what would be
allowed, and where the value came from; an unknown key gets the nearest known ones.

None is written "none" in TOML, which has no word for it, and null in JSON. Fields may be numbers,
texts, choices (`Literal` or enum), tuples and mappings of those, `… | None`, and dataclasses again.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, EnumType
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from distrl.bounds import bounds_of, hints_of
from distrl.errors import InvalidSetting

T = TypeVar("T")
PLAIN: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
}


@dataclass(frozen=True, slots=True)
class Given:
    """A value as it was given, and by whom; `word` is what was typed, where it was typed."""

    value: object
    source: str
    word: str | None = None


Node = Given | dict[str, "Node"]


def plant(value: object, source: str, word: str | None = None) -> Node:
    """Plain data as nodes that know where they come from."""
    if isinstance(value, dict):
        return {str(key): plant(each, source, word) for key, each in value.items()}
    return Given(value, source, word)


def leaves(node: Node, path: str = "") -> Iterator[tuple[str, Given]]:
    """Everything that was given, by its full name."""
    if isinstance(node, Given):
        yield path, node
    else:
        for name, each in node.items():
            yield from leaves(each, _join(path, name))


def read_record(kind: type[T], value: object, source: str) -> T:
    """One record from one plain table that came from one place."""
    return cast("T", _read(kind, plant(value, source), ""))


def read_section(default: T, tree: dict[str, Node]) -> T:
    """A section whose defaults are those of `default`, with what the tree gives."""
    return cast("T", _read_dataclass(type(default), tree, "", default))


@cache
def section_of(hint: Any) -> type | None:
    """The dataclass that an annotation means, `… | None` included."""
    kinds = [kind for kind in _alternatives(hint) if dataclasses.is_dataclass(kind)]
    return cast("type", kinds[0]) if kinds else None


def setting_names(kind: type, path: str = "") -> Iterator[str]:
    """The full name of every setting, section by section."""
    for name, hint in hints_of(kind).items():
        at = _join(path, name)
        section = section_of(hint)
        if section is not None:
            yield from setting_names(section, at)
        else:
            yield at


# One value -------------------------------------------------------------------------------------


def _read(hint: Any, node: Node, at: str, default: object = None) -> object:
    section = section_of(hint)
    if section is not None:
        if section is not hint and isinstance(node, Given) and node.value in (None, "none"):
            return None
        return _read_dataclass(section, node, at, default)
    if get_origin(hint) in (Mapping, dict):
        return _read_mapping(hint, node, at)
    if isinstance(node, dict):
        raise InvalidSetting(
            f"{at} is a single setting, but {_source(node)} has a section of that name; "
            f"give {wanted(hint)}"
        )
    if get_origin(hint) is tuple:
        return _read_tuple(hint, node, at)
    return _read_plain(hint, node, at)


def _read_plain(hint: Any, node: Given, at: str) -> object:
    value, kinds, bounds = node.value, _alternatives(hint), bounds_of(hint)
    if NoneType in kinds and (value is None or value == "none"):
        return None
    if bounds is not None and _is_number(value) and not bounds.admit(cast("float", value)):
        raise _refused(at, node, hint)
    for kind in kinds:
        if get_origin(kind) is Literal:
            if any(value == choice and type(value) is type(choice) for choice in get_args(kind)):
                return value
        elif type(value) is kind:
            return value
        elif kind is float and type(value) is int:
            return float(value)
        elif isinstance(kind, EnumType) and value in _values(kind):
            return kind(value)
        elif kind is str and node.word is not None:
            return node.word  # --set run.name=7 means the text
    raise _refused(at, node, hint)


def _read_tuple(hint: Any, node: Given, at: str) -> tuple[object, ...]:
    element = get_args(hint)[0]
    values = node.value
    if isinstance(values, str) and node.word is not None:  # --set tasks.templates=one,two
        values = [each.strip() for each in values.split(",") if each.strip()]
    if not isinstance(values, list):
        raise _refused(at, node, hint)
    nodes = [plant(value, node.source) for value in values]
    return tuple(_read(element, each, f"{at}[{i}]") for i, each in enumerate(nodes))


def _read_mapping(hint: Any, node: Node, at: str) -> dict[object, object]:
    key_kind, value_kind = get_args(hint)
    if not isinstance(node, dict):
        raise _refused(at, node, hint)
    found: dict[object, object] = {}
    for name, each in node.items():
        if key_kind is int and not re.fullmatch(r"0|-?[1-9]\d{0,17}", name):
            raise InvalidSetting(f"{at}.{name} ({_source(each)}): {name!r} is no whole number")
        key = int(name) if key_kind is int else name
        found[key] = _read(value_kind, each, _join(at, name))
    return found


# A table of them -------------------------------------------------------------------------------


def _read_dataclass(kind: type, node: Node, at: str, default: object) -> object:
    if not isinstance(node, dict):
        raise InvalidSetting(
            f"{at}={node.value!r} ({node.source}): {at} is a section, not a setting; give "
            f"{' or '.join(list(setting_names(kind, at))[:2])}, for example"
        )
    hints = hints_of(kind)
    for name, each in node.items():
        if name not in hints:
            raise InvalidSetting(_unknown(kind, name, at, _source(each)))
    values = {
        name: _read(hints[name], each, _join(at, name), getattr(default, name, None))
        for name, each in node.items()
    }
    if default is None:
        _check_complete(kind, values, at)
    try:
        if default is None:
            return kind(**values)
        return dataclasses.replace(cast("Any", default), **values)
    except InvalidSetting as error:
        raise InvalidSetting(_blamed(str(error), at, node)) from error


def _check_complete(kind: type, values: dict[str, object], at: str) -> None:
    for field in dataclasses.fields(kind):
        optional = {field.default, field.default_factory} != {dataclasses.MISSING}
        if field.name not in values and not optional:
            raise InvalidSetting(f"{_join(at, field.name)} is missing")


# What is said when it does not fit -------------------------------------------------------------


def wanted(hint: Any) -> str:
    """What a setting may be, in words."""
    if get_origin(hint) is Annotated:
        return f"{wanted(get_args(hint)[0])}, {bounds_of(hint)}"
    if get_origin(hint) is tuple:
        return f"a list, each {wanted(get_args(hint)[0])}"
    if get_origin(hint) in (Mapping, dict):
        return f"a table, each {wanted(get_args(hint)[1])}"
    words: list[str] = []
    for kind in _alternatives(hint):
        if get_origin(kind) is Literal:
            words += [str(choice) for choice in get_args(kind)]
        elif isinstance(kind, EnumType):
            words += map(str, _values(kind))
        else:
            words.append('"none"' if kind is NoneType else PLAIN.get(kind, str(kind)))
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _refused(at: str, node: Node, hint: Any) -> InvalidSetting:
    value = node.value if isinstance(node, Given) else node
    return InvalidSetting(f"{at}={value!r} ({_source(node)}): give {wanted(hint)}")


def _blamed(message: str, at: str, node: Node) -> str:
    """A refusal by the section itself, with the full names and sources of what was given."""
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
    """The nearest keys: settings further down of that very name, then those spelled like it."""
    below = list(setting_names(kind, at))
    near = [full for full in below if full.endswith(f".{name}")]
    known = list(hints_of(kind))
    near = near or [_join(at, each) for each in difflib.get_close_matches(name, known, n=2)]
    last = {full.rpartition(".")[2]: full for full in below}
    near = near or [last[each] for each in difflib.get_close_matches(name, last, n=2)]
    hint = f"did you mean {' or '.join(near[:3])}?" if near else f"there are {', '.join(known)}"
    return f"unknown setting {_join(at, name)} ({source}); {hint}"


def _source(node: Node) -> str:
    return next((given.source for _, given in leaves(node)), "an empty section")


def _last(full_name: str) -> str:
    return re.escape(full_name.rpartition(".")[2])


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _values(kind: EnumType) -> list[object]:
    return [member.value for member in cast("type[Enum]", kind)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@cache
def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
