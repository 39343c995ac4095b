"""A call to an actor that is under way, as whoever does not want to wait for it sees it."""

from __future__ import annotations

from typing import Any

import ray


def is_done(call: Any) -> bool:
    """Has it an answer, or an error?"""
    return bool(ray.wait([call], timeout=0)[0])
