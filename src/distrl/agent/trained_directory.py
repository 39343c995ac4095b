"""Where a trained policy lies: an export of ours (`policy_weights`), also inside a run directory.

A run leaves what it has trained in `policy/`, so the directory of the run stands for it.
"""

from __future__ import annotations

from pathlib import Path

MANIFEST = "policy.json"
IN_A_RUN = "policy"


def trained_directory(model: str | Path) -> Path | None:
    """The export that is meant by a directory, or by that of a run; None: it is none of ours."""
    directory = Path(model).expanduser()
    for each in (directory, directory / IN_A_RUN):
        if (each / MANIFEST).is_file():
            return each
    return None
