"""What a collector or a server says, line by line, on its error output: that is its log."""

from __future__ import annotations

import logging
import sys


def begin_log() -> None:
    """For the whole of this process."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr
    )
