"""Sets up a process of a run: its name, its log, and the process whose death kills it.

Only Linux has these system calls. Because of them a run leaves no process behind, however it ends,
not even one that was stopped (SIGSTOP).
"""

from __future__ import annotations

import ctypes
import fcntl
import importlib
import logging
import multiprocessing
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from distrl import plugins

PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
F_SETSIG = 10  # not in `fcntl`
NAME_BYTES = 15  # that the kernel keeps


def _prctl(option: int, value: int | bytes) -> None:
    if not sys.platform.startswith("linux"):
        return  # no such call: a name is not set, and a child may outlive its parent
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent dies."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the parent has gone already")


def die_with_writer(pipe: int) -> None:
    """Have the kernel kill this process when the last writer of a pipe dies.

    The writer need not be the parent: a collector's parent is the forkserver, but it must die with
    the learner. Nothing may ever be written to the pipe.
    """
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([pipe], [], [], 0.0)[0]:
        sys.exit("the learner has gone already")


def name_process(name: str) -> None:
    """Set the name that `ps` and `top` show."""
    _prctl(PR_SET_NAME, name.encode()[:NAME_BYTES])


def log_to_stderr() -> None:
    """Log line by line to the error output, which is the log file of a collector or server."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr
    )


def set_up_process(name: str, log: Path) -> None:
    """Set up a process that multiprocessing has started for the learner, with which it dies."""
    os.setsid()  # Ctrl-C is for the learner, which stops its collectors
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    name_process(name)
    learner = multiprocessing.parent_process()
    assert learner is not None
    die_with_writer(learner.sentinel)
    log_to_stderr()


def end_process_with(failed: threading.ExceptHookArgs) -> None:
    """End the process when a thread fails (a `threading.excepthook`): it needs all its threads."""
    where = failed.thread.name if failed.thread else "a thread"
    logging.getLogger(__name__).critical("%s broke", where, exc_info=failed.exc_value)
    logging.shutdown()
    os._exit(1)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a forked process takes over from the process that requested it."""

    environment: Mapping[str, str]  # the forkserver's own dates from the first run of this process
    plugins: bytes  # `plugins.portable`

    @classmethod
    def here(cls) -> Self:
        return cls(dict(os.environ), plugins.portable())


def work_in(surroundings: Surroundings, work: Callable[..., None], *arguments: object) -> None:
    """Run `work` with the environment and the plugins of the process that requested it."""
    os.environ.clear()
    os.environ.update(surroundings.environment)
    plugins.install(pickle.loads(surroundings.plugins))  # trusted: our own parent's, over its pipe
    work(*arguments)


def import_all(modules: Sequence[str]) -> None:
    """Import all modules, to raise what the forkserver ignores when it preloads them."""
    for module in modules:
        importlib.import_module(module)
