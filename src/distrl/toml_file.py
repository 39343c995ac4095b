"""Read TOML that a person or a stranger wrote, bounded in size, depth and time.

`tomllib` reads whatever it is given: deep brackets are a RecursionError, a number of 5,000 digits
is a ValueError that is none of its own, and a key of 100,000 parts takes hours. Here each of them
is a ValueError that says so, and what comes back is never nested deeper than `MAX_DEPTH`, so that
whoever walks through it may recurse. Whoever reads a TOML file that does not come with DistRL reads
it here, and turns OSError and ValueError into a typed error that names the file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

MAX_BYTES = 1_000_000  # every setting with its meaning takes about 20,000
MAX_DEPTH = 32  # tables and lists within each other; settings have five
# A key with too many parts, which `tomllib` reads in a time that grows with their square.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}")


def read_toml_file(path: Path) -> dict[str, Any]:
    """The tables of a file, as plain values; OSError and ValueError say what is wrong with it."""
    return loads_toml(read_bounded(path))


def read_bounded(path: Path) -> bytes:
    """The bytes of a file; ValueError where it is larger than any that a person has written."""
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
    return content


def loads_toml(content: bytes | str) -> dict[str, Any]:
    """As `tomllib.loads`, and bounded; every refusal is a ValueError."""
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
    """Level by level: what is too deep to be read is also too deep to be walked by recursion."""
    level: list[Any] = [tables]
    for _ in range(MAX_DEPTH):
        level = [each for node in level for each in _inside(node)]
        if not level:
            return
    raise ValueError("it is nested too deeply")


def _inside(node: Any) -> list[Any]:
    """Tables and lists in a table or list."""
    members = node.values() if isinstance(node, dict) else node
    return [each for each in members if isinstance(each, dict | list)]
