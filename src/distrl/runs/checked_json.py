"""Indented JSON with a CRC-32 checksum as its last member: result, card and phones of a run.

A digit that the disk corrupted is another result and still valid JSON; only the checksum shows it.
Logs have a checksum in each line (`json_lines`); these files are indented for people to read.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

CHECKSUM = "crc32"  # the name of that member
LAST = re.compile(rb',\n  "[^"\n]{5}": "[^"\n]{8}"\n}')  # the checksum, damaged or not
LAST_BYTES = 25


def to_checked_json(table: Mapping[str, Any]) -> str:
    body = json.dumps(table, indent=2, allow_nan=False).removesuffix("\n}")
    return f'{body},\n  "crc32": "{zlib.crc32(body.encode()):08x}"\n}}\n'


def is_as_written(content: bytes) -> bool:
    """Return whether the content matches its checksum; True for JSON of versions without one."""
    text = content.removesuffix(b"\n")
    body, last = text[:-LAST_BYTES], text[-LAST_BYTES:]
    if LAST.fullmatch(last):
        return last == b',\n  "crc32": "%08x"\n}' % zlib.crc32(body)
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
