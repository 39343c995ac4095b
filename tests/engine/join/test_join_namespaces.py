"""Two machines as two sets of namespaces: a link that is cut again and again, nothing lost."""

from __future__ import annotations

import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.tiny_runs import SETTINGS
from tests.machines.hosts import HOME, Command, Host, Switch, wait_until, why_not

from distrl.replay.store.trajectory_reader import TrajectoryReader

LONG = 500.0
CUTS = (1.0, 4.0, 12.0)  # seconds; the last one is longer than an answer may take


@pytest.fixture
def hosts(model: Path) -> Iterator[tuple[Host, Host]]:
    """Of the learner, and of who joins it; no address of theirs is on this machine's network."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    # in the background of a shell Ctrl-C is ignored, also by all that is started from there
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with Switch() as switch:
        both = switch.add("house", {}), switch.add("attic", {})
        for each in both:
            shutil.copytree(model, each.home / "model")
            (each.home / "tiny.toml").write_text(SETTINGS, "utf-8")
        yield both
    signal.signal(signal.SIGINT, before)


def settings(*words: str) -> list[str]:
    return [word for each in (f"agent.model={HOME}/model", *words) for word in ("--set", each)]


def invitation(house: Host, learner: Command) -> tuple[list[str], Path]:
    """What the learner says that others are to type, and its token."""
    wait_until(
        lambda: "(copy that file" in learner.said() or not learner.is_running(),
        LONG,
        learner.said,
    )
    said = re.sub(r"\s+", " ", learner.said())
    found = re.search(r"collect (--join \S+ --fingerprint \S+) --token-file", said)
    assert found is not None, said
    [token] = (house.home / "runs").glob("*/join/token")
    return found[1].split(), token


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_collector_behind_a_link_that_is_cut(hosts: tuple[Host, Host], tmp_path: Path) -> None:
    house, attic = hosts
    learner = house.distrl(
        "collect", "tiny.toml",
        *settings(
            "collection.collectors=0", "run.minutes=60", "devices.count=2",
            f"engine.join.listen={house.address}:0",
        ),
    )  # fmt: skip
    words, token = invitation(house, learner)
    shutil.copy(token, attic.home / "token")
    joined = attic.distrl(
        "collect", *words, "--token-file", "token", "--spool", "spool",
        *settings("devices.count=2"),
    )  # fmt: skip
    run = token.parents[1]

    def logged() -> int:
        log = run / "episodes.jsonl"
        return log.read_bytes().count(b"\n") if log.exists() else 0

    def wait_for_more() -> None:
        more = logged() + 3
        wait_until(lambda: logged() >= more, LONG, lambda: learner.said() + joined.said())

    for seconds in CUTS:
        wait_for_more()
        attic.cut()
        time.sleep(seconds)  # how long the link is cut is what is tried here
        attic.mend()
    wait_for_more()
    learner.interrupt()
    assert joined.wait(LONG) == 0, joined.said()
    assert learner.wait(LONG) == 0, learner.said()
    shutil.copytree(run / "trajectories", tmp_path / "stored")  # SQLite follows no /proc/PID/root
    ids = [each.trajectory.id for each in TrajectoryReader(tmp_path / "stored").read()]
    assert len(ids) == logged()
    assert len(set(ids)) == len(ids)
    numbers = sorted(int(each.split("/")[1]) for each in ids if "-1024.1/" in each)
    assert len(numbers) >= max(numbers) - 2  # at most those in flight at the end are missing
