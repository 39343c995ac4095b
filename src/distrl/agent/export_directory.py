"""Finds exported policies (`policy_weights`), and writes directories atomically.

A run exports its policy to `policy/`, so the directory of a run may be given instead.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distrl.errors import CorruptModel

MANIFEST = "policy.json"
CRITIC_FILE = "critic.safetensors"
IN_A_RUN = "policy"
RUN_FILES = ("config.toml", "metrics.jsonl")  # every run has these from its start
UNFINISHED = ".unfinished-"


def trained_directory(model: str | Path) -> Path | None:
    """Return the exported policy's directory, which may be in a run's; None if there is none."""
    directory = Path(model).expanduser()
    for each in (directory, directory / IN_A_RUN):
        if (each / MANIFEST).is_file():
            return each
        if (each / CRITIC_FILE).is_file():  # only our exports have this file
            raise CorruptModel(
                f"{each / MANIFEST} is gone: this is an exported policy, and without it a model "
                "that is asked and judged otherwise; copy or export it again"
            )
    return None


def run_without_policy(directory: Path) -> str:
    """Return advice for a run (or its policy/) that has no export yet; "" for anything else."""
    run = directory.parent if directory.name == IN_A_RUN else directory
    if (run / IN_A_RUN).is_dir() or not all((run / name).is_file() for name in RUN_FILES):
        return ""
    return (
        f"the run {run} has no trained policy yet: {run / IN_A_RUN} is written when a run that "
        f"has made an update ends or is stopped. `distrl train --resume {run}` goes on with it; "
        f"agent.model in its config.toml names the model it began with"
    )


@contextmanager
def atomic_directory(directory: Path) -> Iterator[Path]:
    """Yield a hidden directory to write to; rename it to `directory` at the end.

    `directory` must be missing or empty. If writing fails, nothing is left.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=directory.parent))
    try:
        yield unfinished
        unfinished.rename(directory)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)  # gone already if all went well
