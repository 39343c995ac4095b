"""Processes that die with another one, and go by a name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engine.local.process_facts import has_ended

SETUP = "import os, sys, time; from distrl.engine.local import process_lifetime as p; "
WITH_WRITER = SETUP + "p.die_with_writer(int(sys.argv[1])); print(1, flush=True); time.sleep(600)"
WITH_PARENT = SETUP + "p.die_with_parent(int(sys.argv[1])); time.sleep(600)"
NAMED = SETUP + "p.name_process(sys.argv[1]); print(open('/proc/self/comm').read())"
LOGGING = SETUP + "import logging; p.log_to_stderr(); logging.getLogger('x').info('ready')"


def test_a_process_dies_with_the_writer_of_a_pipe_even_if_it_is_stopped() -> None:
    ours, theirs = os.pipe()
    words = [sys.executable, "-c", WITH_WRITER, str(ours)]
    with subprocess.Popen(words, pass_fds=[ours], stdout=subprocess.PIPE) as child:
        os.close(ours)
        assert child.stdout is not None
        assert child.stdout.readline() == b"1\n"
        os.kill(child.pid, signal.SIGSTOP)
        assert child.poll() is None
        os.close(theirs)
        assert has_ended(child.pid)
        assert child.wait() == -signal.SIGKILL


@pytest.mark.parametrize("code", [WITH_WRITER, WITH_PARENT])
def test_a_process_that_begins_too_late_ends_at_once(code: str) -> None:
    ours, theirs = os.pipe()
    os.close(theirs)
    argument = str(ours) if code is WITH_WRITER else "1"  # not its parent
    done = subprocess.run(
        [sys.executable, "-c", code, argument], pass_fds=[ours], capture_output=True, text=True
    )
    os.close(ours)
    assert done.returncode == 1
    assert "has gone already" in done.stderr


def test_the_kernel_keeps_the_beginning_of_a_name() -> None:
    done = subprocess.run([sys.executable, "-c", NAMED, "collector-7.12345"], capture_output=True)
    assert done.stdout.strip() == b"collector-7.123"


def test_the_log_is_the_error_output(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LOGGING], capture_output=True, text=True)
    assert done.stderr.endswith("INFO ready\n")
