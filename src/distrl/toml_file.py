"""Read untrusted TOML, with limits on size, depth and time.

`tomllib` has no such limits: deeply nested brackets raise RecursionError, a number of 5,000 digits
raises a plain ValueError instead of `TOMLDecodeError`, and a key of 100,000 parts takes hours. Here
each of them raises a ValueError with the reason, and the result is never nested deeper than
`MAX_DEPTH`, so that callers may process it recursively. Use this module for every TOML file that
does not come with DistRL, and convert OSError and ValueError to a typed error that names the file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

MAX_BYTES = 1_000_000  # a file with all settings and their comments has about 20,000
MAX_DEPTH = 32  # nested tables and lists; settings have five levels
# A key with too many parts; `tomllib` takes time quadratic in the number of parts.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}")


def read_toml_file(path: Path) -> dict[str, Any]:
    """Return the tables of a file as plain values; raise OSError or ValueError if it is invalid."""
    return loads_toml(read_bounded(path))


def read_bounded(path: Path) -> bytes:
    """Return the bytes of a file; raise ValueError if it is larger than `MAX_BYTES`."""
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
    return content


def loads_toml(content: bytes | str) -> dict[str, Any]:
    """Like `tomllib.loads`, but with limits; every failure is a ValueError."""
    text = content.decode("utf-8") if isinstance(content, bytes) else content
    if len(text) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
    if _LONG_KEY.search(text):
        raise ValueError("it is nested too deeply")
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    _refuse_depth(tables)
    return tables


def _refuse_depth(tables: dict[str, Any]) -> None:
    """Raise ValueError if nested too deeply; walk by levels, since recursion could overflow."""
    level: list[Any] = [tables]
    for _ in range(MAX_DEPTH):
        level = [each for node in level for each in _inside(node)]
        if not level:
            return
    raise ValueError("it is nested too deeply")


def _inside(node: Any) -> list[Any]:
    """Return the tables and lists directly inside a table or list."""
    members = node.values() if isinstance(node, dict) else node
    return [each for each in members if isinstance(each, dict | list)]
