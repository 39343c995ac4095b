"""Two machines as two network namespaces: one outgoing port, a link that is cut, nothing lost."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.engine.tiny_runs import command, start
from tests.episodes.made_up_collectors import wait_until

from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.run_directory import RunDirectory

LONG = 500.0
CUTS = (1.0, 4.0, 12.0)  # seconds; the last one is longer than an answer may take


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@pytest.fixture
def attic() -> Iterator[str]:
    """A namespace behind a link of its own; this one is 10.77.x.1, it is 10.77.x.2."""
    name, net = f"attic-{os.getpid()}", os.getpid() % 250
    near, far = f"jn{os.getpid() % 10**6}", f"jf{os.getpid() % 10**6}"
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    try:
        ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"network namespaces cannot be made here: {error}")
    with ExitStack() as opened:
        opened.callback(ip, "netns", "del", name)
        ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
        ip("addr", "add", f"10.77.{net}.1/24", "dev", near)
        ip("link", "set", near, "up")
        for words in (
            ("addr", "add", f"10.77.{net}.2/24", "dev", far),
            ("link", "set", far, "up"),
            ("link", "set", "lo", "up"),
        ):
            ip("-n", name, *words)
        yield name


@pytest.mark.slow
def test_a_collector_behind_a_link_that_is_cut(tmp_path: Path, model: Path, attic: str) -> None:
    net = os.getpid() % 250
    link = f"jn{os.getpid() % 10**6}"
    words = command(
        tmp_path, model, "collection.collectors=0", "run.minutes=60", "devices.count=2",
        f"engine.join.listen=10.77.{net}.1:0",
    )  # fmt: skip
    words[words.index("train")] = "collect"
    log, joined_log = tmp_path / "learner.log", tmp_path / "joined.log"
    learner = start(words, log)
    joined: subprocess.Popen[bytes] | None = None
    try:
        wait_until(
            lambda: "(copy that file" in log.read_text("utf-8") or learner.poll() is not None
        )
        said = re.sub(r"\s+", " ", log.read_text("utf-8"))
        found = re.search(r"collect (--join \S+ --fingerprint \S+) --token-file", said)
        assert found is not None, said
        [token] = (tmp_path / "runs").glob("*/join/token")
        run = RunDirectory(token.parents[1])
        collect = [*words[:3], "collect", *found[1].split(), "--token-file", str(token)]
        collect += ["--spool", str(tmp_path / "spool"), "--set", "devices.count=2"]
        collect += ["--set", f"agent.model={model}"]
        joined = start(["ip", "netns", "exec", attic, *collect], joined_log)

        def stored() -> list[str]:
            if not run.trajectories.exists():
                return []
            return [each.trajectory.id for each in TrajectoryReader(run.trajectories).read()]

        for seconds in CUTS:
            more = len(stored()) + 3
            wait_until(lambda: len(stored()) >= more)  # noqa: B023 — it is called at once
            ip("link", "set", link, "down")
            time.sleep(seconds)  # how long the link is cut is what is tried here
            ip("link", "set", link, "up")
        more = len(stored()) + 3
        wait_until(lambda: len(stored()) >= more)
        learner.terminate()
        assert joined.wait(LONG) == 0, joined_log.read_text("utf-8")
        assert learner.wait(LONG) == 0
        ids = stored()
        assert len(set(ids)) == len(ids)
        numbers = sorted(int(each.split("/")[1]) for each in ids if "-1024.1/" in each)
        assert len(numbers) >= max(numbers) - 2  # at most those in flight at the end are missing
    finally:
        for process in (joined, learner):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
