"""What we started ends with us, also when we are killed; what ended before is left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from distrl.devices.emulator.process_watch import ProcessWatch

OWNER = """
import subprocess, sys, time
from distrl.devices.emulator.process_watch import ProcessWatch
with ProcessWatch() as watch:
    started = [subprocess.Popen(["sleep", "600"], start_new_session=True) for _ in range(2)]
    for each in started:
        watch.add(each.pid)
    watch.remove(started[1].pid)
    print(*(each.pid for each in started), flush=True)
    time.sleep(600)
"""


def is_there(process_id: int) -> bool:
    """A zombie is nobody."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone_within(process_id: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while is_there(process_id):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_a_killed_owner_takes_its_processes_with_it() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    watched, given_up = map(int, owner.stdout.readline().split())
    try:
        assert is_there(watched)
        assert is_there(given_up)
        owner.kill()
        owner.wait()
        assert gone_within(watched, 20.0)
        assert is_there(given_up)  # it was said that it had ended: nothing is done to its number
    finally:
        os.kill(given_up, signal.SIGKILL)
        owner.stdout.close()


def test_leaving_ends_what_is_left() -> None:
    with ProcessWatch() as watch:
        started = subprocess.Popen(["sleep", "600"], start_new_session=True)
        watch.add(started.pid)
        helper = watch.process_id
    assert started.wait(60.0) == -signal.SIGKILL
    assert helper is not None
    assert gone_within(helper, 20.0)
