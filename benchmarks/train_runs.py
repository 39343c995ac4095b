"""Start `distrl train` as a process of its own, for benchmarks that watch or disturb a run."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from distrl.agent.starter.building import new_model
from distrl.imitation.pretraining import save
from distrl.process_environment import for_forkserver
from phonesim.drawing.icons import ICONS

COMMAND = [sys.executable, "-c", "from distrl.cli.main import main; main()", "train"]
SIZES = {"width": 48, "heads": 4, "reader_width": 16, "encoder_layers": 1, "decoder_layers": 1}


def set_words(settings: Mapping[str, object]) -> list[str]:
    """Return the settings as `--set` arguments."""
    return [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]


def start_run(settings: Mapping[str, object], log: Path, *config: str) -> subprocess.Popen[bytes]:
    """Start a run, of a config if one is named; append all its output to the log."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [*COMMAND, *config, *set_words(settings)],
            env=for_forkserver(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )


def tiny_model(folder: Path) -> Path:
    """Make a model so small that a restart takes seconds; return its path."""
    save(new_model(ICONS, 0, **SIZES), folder / "model")
    return folder / "model"


def keep_output(pipe: IO[bytes], log: Path) -> None:
    """Copy a run's output to the log on its behalf: the quota that simulates a full disk applies to
    the run's process and would also stop its log. On a disk that really is full, wait for room.
    """
    with pipe, log.open("ab", buffering=0) as file:
        while data := os.read(pipe.fileno(), 2**16):
            while data:
                try:
                    data = data[file.write(data) or 0 :]
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    time.sleep(0.1)
