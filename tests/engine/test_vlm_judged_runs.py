"""Whole runs whose verdicts a vision-language judge gives, behind a server that the tests start."""

from __future__ import annotations

import hashlib
import json
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console
from tests.chat.chat_protocol import Asked, Reply, completion, serving
from tests.engine.tiny_runs import tiny_config
from tests.judging.judge_server import YES

from distrl.cli.rescore import rescore_run
from distrl.cli.train import new_directory
from distrl.config.sections import JudgeSettings
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.resume import corpus
from distrl.engine.run.stop_request import StopRequested
from distrl.json_lines import read_lines
from distrl.judging.judge import JudgeRecord
from distrl.records import Ending, Trajectory
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

QUIET = Console(quiet=True)
UNTESTED = ("evaluation.before=0", "evaluation.after=0")


def by_the_question(asked: Asked) -> bytes:
    """The same verdict on the same question; about every other one is a success."""
    digest = hashlib.blake2b(json.dumps(asked["messages"][-1]).encode()).digest()
    return completion(f"Verdict: {'success' if digest[0] % 2 else 'failure'}")


def engine_for(folder: Path, model: Path, url: str, *overrides: str) -> LocalEngine:
    folder.mkdir(exist_ok=True)
    judge = ("judge.kind=vlm", f"judge.server={url}", "judge.model=judge", "judge.tries=1")
    config = tiny_config(folder, model, *judge, *UNTESTED, *overrides)
    return LocalEngine(config, new_directory(config), QUIET)


def stored(run: RunDirectory) -> dict[str, Trajectory]:
    return {each.id: each for each in corpus(str(run.path))}


def lines(run: RunDirectory) -> list[tuple[str, Ending]]:
    return [(line.id, line.ending) for line in read_lines(run.episodes, EpisodeLine)]


def updates_of(run: RunDirectory) -> int:
    return int(json.loads(run.result.read_text())["updates"])


@pytest.mark.slow
def test_the_same_run_twice_is_the_same_whoever_is_judged_first(
    tmp_path: Path, model: Path
) -> None:
    runs = []
    for name in ("one", "other"):
        with serving(Reply(by_the_question)) as (url, log):
            settings = ("collection.mode=one_process", "run.updates=3")
            engine = engine_for(tmp_path / name, model, url, *settings)
            assert engine.train().updates == 3
        run = engine.directory
        runs.append(lines(run))
        judged = stored(run)
        assert dict(runs[-1]) == {name: each.ending for name, each in judged.items()}
        judges = {each.verdict.judge for each in judged.values() if each.verdict}
        assert [judge.split("/")[:2] for judge in judges] == [["vlm", "judge"]]
        records = read_lines(run.path / "judgements.jsonl", JudgeRecord)
        assert {each.trajectory for each in records} == set(judged)
        assert len(log.completions) == len([each for each in records if not each.cached])
    assert runs[0] == runs[1]


@pytest.mark.slow
def test_phones_play_on_while_the_judge_thinks(tmp_path: Path, model: Path) -> None:
    """No verdict is given before twelve episodes of two phones are on the disk."""
    thought = threading.Event()
    with serving(Reply(by_the_question, hold=thought)) as (url, _):
        engine = engine_for(tmp_path, model, url, "run.trajectories=12", "judge.at_once=2")
        run = engine.directory
        with when(lambda: count_in(run) >= 12, thought.set):
            assert engine.collect() >= 12
    assert thought.is_set()
    endings = Counter(each.ending for each in stored(run).values())
    assert set(endings) <= {Ending.STEP_LIMIT, Ending.SUCCESS, Ending.FAILURE, Ending.GAVE_UP}
    assert len(lines(run)) == sum(endings.values()) >= 12


@pytest.mark.slow
def test_an_asynchronous_run_learns_from_verdicts_that_come_late(
    tmp_path: Path, model: Path
) -> None:
    with serving(Reply(by_the_question, trickle_s=0.001)) as (url, _):
        engine = engine_for(tmp_path, model, url, "run.updates=3")
        engine.train()
    assert updates_of(engine.directory) == 3
    learned_from = [each for _, each in lines(engine.directory) if each.judged]
    assert len(learned_from) >= 3


@pytest.mark.slow
def test_without_a_judge_all_is_kept_and_rescoring_puts_it_back(
    tmp_path: Path, model: Path
) -> None:
    with serving(Reply(b"{}", status=503)) as (url, _):
        settings = ("collection.mode=one_process", "run.trajectories=6", "judge.deadline_seconds=1")
        engine = engine_for(tmp_path, model, url, *settings)
        assert engine.train().updates == 0
    run = engine.directory
    assert {ending for _, ending in lines(run)} == {Ending.JUDGE_UNAVAILABLE}
    assert {each.ending for each in stored(run).values()} == {Ending.AWAITING_VERDICT}
    assert {each.verdict for each in stored(run).values()} == {None}
    with serving(Reply(by_the_question)) as (url, _):
        counts = rescore_run(
            QUIET, run.path, JudgeSettings("vlm", url, "judge"), only_unjudged=True
        )
        assert counts.newly_judged == len(stored(run)) >= 6
        more = (*settings[:1], "run.updates=2")
        config = engine_for(tmp_path, model, url, *more).config
        resumed = LocalEngine(config, run, QUIET).train(resumed=True)
    assert resumed.updates == 2


@pytest.mark.slow
def test_a_run_that_was_stopped_before_its_verdicts_came_has_them_after_the_resume(
    tmp_path: Path, model: Path
) -> None:
    settings = ("collection.mode=one_process", "run.updates=2")
    with serving(YES) as (url, _):
        rationed = "judge.requests_per_minute=0.001"  # the first is answered, the next in hours
        engine = engine_for(tmp_path, model, url, *settings, rationed)
        run = engine.directory
        with (
            when(lambda: count_in(run) >= 2, lambda: signal.raise_signal(signal.SIGINT)),
            pytest.raises(StopRequested),
        ):
            engine.train()
    before = stored(run)
    unjudged = {name for name, each in before.items() if each.verdict is None}
    assert {before[name].ending for name in unjudged} == {Ending.AWAITING_VERDICT}
    assert set(dict(lines(run))) == set(before) - unjudged
    with serving(Reply(by_the_question)) as (url, _):
        config = engine_for(tmp_path, model, url, *settings).config
        assert LocalEngine(config, run, QUIET).train(resumed=True).updates == 2
    after = stored(run)
    assert all(after[name].verdict is not None for name in before)
    assert len(dict(lines(run))) == len(lines(run)) == len(after)


def count_in(run: RunDirectory) -> int:
    if not run.trajectories.is_dir():
        return 0
    return sum(1 for _ in TrajectoryReader(run.trajectories).read())


@contextmanager
def when(condition: Callable[[], bool], act: Callable[[], None]) -> Iterator[None]:
    """Somebody who acts once something has come to be."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            if condition():
                act()
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
