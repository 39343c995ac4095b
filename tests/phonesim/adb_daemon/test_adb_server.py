"""`python -m phonesim serve`: phones on their ports until they are told to stop."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest
from tests.phonesim.adb_daemon.computer import Computer

from distrl.errors import InvalidSetting
from phonesim.adb_daemon.adb_server import serve_phones


def test_phones_with_the_seeds_that_were_asked_for() -> None:
    stop, ready = threading.Event(), threading.Event()
    said: list[str] = []

    def announce(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            ready.set()

    thread = threading.Thread(target=serve_phones, args=(2, 0, 7, announce, stop))
    thread.start()
    assert ready.wait(60.0)
    ports = [int(line.removeprefix("adb connect 127.0.0.1:")) for line in said]
    for seed, port in zip((7, 8), ports, strict=True):
        with Computer(port) as computer:
            computer.hello()
            assert computer.run("exec:getprop ro.serialno") == f"distrl-{seed}\n".encode()
    stop.set()
    thread.join(60.0)
    assert not thread.is_alive()
    with pytest.raises(ConnectionRefusedError):
        Computer(ports[0])


@pytest.mark.parametrize(
    ("phones", "port"), [(0, 0), (65, 0), (1, 80), (1, 5555), (3, 5552), (2, 65535), (1, -1)]
)
def test_what_cannot_be_served_is_said_before_anything_listens(phones: int, port: int) -> None:
    with pytest.raises(InvalidSetting, match=f"{port if port else phones}"):
        serve_phones(phones, port, 0, lambda line: pytest.fail(line))


def test_the_command_serves_until_it_is_interrupted() -> None:
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    start = (
        f"{listen}; from phonesim.cli import main; main()"  # SIGINT may be ignored where tests run
    )
    command = [sys.executable, "-c", start, "serve", "--port", "0", "--profile", "samsung"]
    command += ["--screen", "640x1280@2", "--restless-dumps", "1", "--launch-seconds", "3"]
    command += ["--input-seconds", "0.01", "--screencap-seconds", "0.01"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().decode().split(":")[1])
        with Computer(port) as computer:
            computer.hello()
            assert computer.run("exec:getprop ro.product.model") == b"SM-S918B\n"
            assert computer.run("exec:wm size") == b"Physical size: 640x1280\n"
            assert computer.run("exec:getprop ro.distrl.draws_at_once") == b"0\n"
            assert b"could not get idle state" in computer.run("exec:uiautomator dump")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
