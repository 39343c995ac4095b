"""Every command of docs/start/handsets.md, in its order, as one would type them.

The phones are simulated ones on a real adb server, guarded as handsets are; the model is a tiny
Qwen2.5-VL with random weights, and a stand-in judges. What is changed of the page: ports, how long
it plays, and in phones.toml what a machine without a GPU cannot do.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.agent.tiny_models import tiny_model
from tests.chat.chat_protocol import serving
from tests.devices.adb.adb_servers import own_adb_server
from tests.docs_site.page_blocks import ROOT, blocks
from tests.judging.judge_server import YES

from distrl.process_environment import for_forkserver

PAGE = ROOT / "docs/start/handsets.md"
PHONES = 4
EDITS = {  # of phones.toml
    'device = "cuda"': 'device = "cpu"',
    'weights = "bfloat16"': 'weights = "float32"',
    'precision = "bf16"': 'precision = "full"\nbatch_trajectories = 2\nrefresh_trajectories = 0\n'
    "updates_per_publish = 1\nwarm_up_updates = 0",
    "rank = 16": "rank = 2\n\n[agent.policy.sampling]\nmax_new_tokens = 3\n\n[pacing]\n"
    "samples_per_insert = 1\nminimum_fill = 2",
    "minutes = 240.0": "minutes = 5.0\nupdates = 1\nfree_gigabytes = 0.01",
}


@dataclass
class Terminal:
    """A shell in a folder with a home of its own."""

    folder: Path
    environment: dict[str, str]

    def type(self, text: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{(done.stdout + done.stderr)[-3000:]}"
        return done.stdout

    @contextmanager
    def other_window(self, text: str, listens: int) -> Iterator[None]:
        """Type into another one, and go on once something listens on that port.

        Ctrl-C ends it, also where the tests run in a background job, which ignores it.
        """
        line = f"exec env --default-signal=INT {text}"
        with (self.folder / "served.log").open("wb") as log:
            served = subprocess.Popen(
                ["bash", "-c", line], cwd=self.folder, env=self.environment, stdout=log
            )
        try:
            _wait_for(listens, served)
            yield
        finally:
            served.send_signal(signal.SIGINT)
            served.wait(60)


def _wait_for(port: int, served: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120.0
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            assert served.poll() is None, "it has ended"
            assert time.monotonic() < end, "nothing listens"
            time.sleep(0.05)


def free_ports(count: int) -> int:
    """The first of so many free ports in a row."""
    for first in range(17_400, 60_000, 50):
        try:
            for port in range(first, first + count):
                socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")


def _path_without_adb(folder: Path) -> str:
    """As of a newcomer, who has no platform-tools; links in `folder` stand for a place that has."""
    kept = []
    for number, place in enumerate(map(Path, os.environ["PATH"].split(os.pathsep))):
        if (place / "adb").exists():
            links = folder / f"path-{number}"
            links.mkdir()
            for program in place.iterdir():
                if program.name != "adb":
                    (links / program.name).symlink_to(program)
            place = links
        kept.append(str(place))
    return os.pathsep.join(kept)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with own_adb_server() as adb:
        bin_folder = tmp_path / "bin"
        bin_folder.mkdir()
        distrl = bin_folder / "distrl"
        distrl.write_text(f'#!/bin/sh\nexec {sys.executable} -m distrl "$@"\n')
        distrl.chmod(0o755)
        for link in ("models/Qwen2.5-VL-3B-Instruct",):
            (tmp_path / link).parent.mkdir()
            (tmp_path / link).symlink_to(tiny_model("qwen2_5_vl"))
        own = {
            "HOME": str(tmp_path),
            "PATH": f"{bin_folder}{os.pathsep}{_path_without_adb(tmp_path)}",
            "PYTHONPATH": os.pathsep.join(each for each in sys.path if each),
            "COLUMNS": "200",
        }
        yield Terminal(tmp_path, for_forkserver({**adb.environment, **own}))


@pytest.mark.slow
@pytest.mark.timeout(1800)  # ten minutes on a busy machine
def test_from_the_cable_to_training(terminal: Terminal) -> None:
    first = free_ports(PHONES)
    port = terminal.environment["ANDROID_ADB_SERVER_PORT"]
    changed = {str(7411 + number): str(first + number) for number in range(PHONES)}
    changed |= {"distrl devices": f"distrl devices --port {port} --rounds 1", "=40": "=4"}
    shown = [block.text for block in blocks(PAGE, "sh") if not block.mark]
    for old, new in changed.items():
        shown = [text.replace(old, new) for text in shown]
    serve, *typed = shown
    with (
        serving(YES) as (url, log),
        terminal.other_window(f"{serve.strip()} --port {first}", first + PHONES - 1),
    ):
        said = [_type(terminal, text, url, port) for text in typed]
    told = "\n".join(said)
    assert told.count("device: well") == PHONES
    assert "DRY RUN: no phone was touched" in told
    measured = re.findall(r"success: +\d+\.\d% +\[.*\] of (\d+) episodes", told)
    assert len(measured) == 2, told  # before and after
    assert min(map(int, measured)) >= PHONES
    assert len(log.completions) >= 8
    [policy] = (terminal.folder / "runs").glob("handsets-*/policy")
    assert "It was not measured by the run" in (policy / "README.md").read_text("utf-8")
    assert re.search(r"agent\.adapter=\S*handsets-\S*/policy", told)  # what to type next


def _type(terminal: Terminal, text: str, url: str, port: str) -> str:
    """Type a block; once phones.toml is there, change what this machine has not."""
    text = text.replace("distrl view\n", "distrl runs\n")  # which does not wait for a browser
    said = terminal.type(text)
    settings = terminal.folder / "phones.toml"
    if "configs handsets" in text:
        written = settings.read_text("utf-8")
        for old, new in {**EDITS, "http://localhost:8000/v1": url}.items():
            assert old in written, old
            written = written.replace(old, new)
        written = written.replace("guard_all = true", f"adb_port = {port}\nguard_all = true")
        settings.write_text(written.replace('"Qwen/Qwen2.5-VL-7B-Instruct"', '"judge"'), "utf-8")
    return said
