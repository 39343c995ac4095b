"""The judge of a run's settings, opened and closed with the receiver in front of it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.chat.chat_protocol import Reply, serving
from tests.judging.judge_server import NO, YES, played

from distrl.config.sections import JudgeSettings
from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.deferred_judging import open_judge, open_receiver, second_opinion_summary
from distrl.engine.ingest.delivery import ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Received, Refused
from distrl.errors import NotInstalled
from distrl.json_lines import LineLog, read_lines
from distrl.judging.judge import JudgeRecord
from distrl.judging.judge_agreement import SecondOpinion
from distrl.records import Ending
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_directory import RunDirectory

BROKEN = Reply(b"{}", status=500)
LONG = 30.0  # seconds that no test takes


class Hall:
    """A receiver as the engines open it, in the folder of a run."""

    def __init__(self, folder: Path, settings: JudgeSettings, opened: ExitStack) -> None:
        self.run = RunDirectory(folder)
        self.said: list[str] = []
        self.answers: list[Received | Refused] = []
        self.arrivals = ArrivalQueue()
        store = opened.enter_context(TrajectoryStore(self.run.trajectories))
        lines = opened.enter_context(LineLog.open(self.run.episodes))
        self.receiver: TrajectoryReceiver = open_receiver(
            TrainingConfig(judge=settings),
            self.run,
            store,
            self.arrivals,
            EpisodeLog(lines, lambda: 50.0),
            self.said.append,
            opened,
        )

    def send(self, number: int) -> None:
        encoded = encode_trajectory(played(f"c/{number}", first=10 * number))
        self.receiver.deliver(encoded, self.answers.append)

    def arrived(self) -> list[tuple[str, Ending]]:
        found = [self.arrivals.popleft() for _ in range(len(self.arrivals))]
        return [(each.id, each.ending) for each in found]


@contextmanager
def hall(folder: Path, settings: JudgeSettings) -> Iterator[Hall]:
    with ExitStack() as opened:
        yield Hall(folder, settings, opened)


def vlm(url: str, tries: int = 1, max_waiting: int = 256) -> JudgeSettings:
    return JudgeSettings(
        kind="vlm", server=url, model="judge", tries=tries, at_once=1, max_waiting=max_waiting
    )


def test_without_a_judge_all_goes_straight_to_the_learner(tmp_path: Path) -> None:
    with hall(tmp_path, JudgeSettings()) as made:
        made.send(1)
        assert made.arrived() == [("c/1", Ending.AWAITING_VERDICT)]
        assert made.receiver.unjudged == 0
    assert made.said == []
    assert not list(tmp_path.glob("judge*"))


def test_a_verdict_comes_before_the_learner_and_is_written_down(tmp_path: Path) -> None:
    with serving(YES, NO, models=("judge",)) as (url, _), hall(tmp_path, vlm(url)) as made:
        for number in (1, 2):
            made.send(number)
        assert made.receiver.settle(LONG)
        assert made.arrived() == [("c/1", Ending.SUCCESS), ("c/2", Ending.FAILURE)]
        assert made.said == []  # its report comes at the end
    records = read_lines(tmp_path / "judgements.jsonl", JudgeRecord)
    assert [(each.trajectory, each.success) for each in records] == [("c/1", True), ("c/2", False)]
    [summary] = made.said
    assert summary.startswith("judge: 2 verdicts (0 from the cache), 0 could not be had")


def test_what_the_cache_knows_is_not_asked_again(tmp_path: Path) -> None:
    with serving(YES, models=("judge",)) as (url, log):
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            if folder == "two":
                cache = tmp_path / "one" / "judge_cache.jsonl"
                (tmp_path / "two" / "judge_cache.jsonl").write_bytes(cache.read_bytes())
            with hall(tmp_path / folder, vlm(url)) as made:
                made.send(1)
                assert made.receiver.settle(LONG)
                assert made.arrived() == [("c/1", Ending.SUCCESS)]
        assert len(log.completions) == 1
    [summary] = made.said
    assert "1 verdicts (1 from the cache)" in summary


def test_what_is_left_without_a_verdict_is_said_with_the_command_for_it(tmp_path: Path) -> None:
    with serving(BROKEN, models=("judge",)) as (url, _), hall(tmp_path, vlm(url)) as made:
        made.send(1)
        assert made.receiver.settle(LONG)
        assert made.arrived() == [("c/1", Ending.JUDGE_UNAVAILABLE)]
    sentence = made.said[-1]
    assert sentence.startswith("1 trajectories are stored without a verdict")
    assert f"distrl rescore {tmp_path} --only-unjudged" in sentence


def test_collectors_are_held_back_by_the_bound_of_the_settings(tmp_path: Path) -> None:
    late = threading.Event()
    held = Reply(YES.body, hold=late)
    with (
        serving(held, YES, models=("judge",)) as (url, _),
        hall(tmp_path, vlm(url, max_waiting=2)) as made,
    ):
        for number in range(3):
            made.send(number)
        assert [answer.id for answer in made.answers] == ["c/0"]
        late.set()
        assert made.receiver.settle(LONG)
        made.receiver.release()
        assert [answer.id for answer in made.answers] == ["c/0", "c/1", "c/2"]


def test_a_second_judge_is_asked_beside_the_first_and_summed_up(tmp_path: Path) -> None:
    with (
        serving(YES, models=("judge",)) as (url, first_log),
        serving(NO, models=("other",)) as (second_url, second_log),
        ExitStack() as opened,
    ):
        settings = JudgeSettings(
            kind="vlm",
            server=url,
            model="judge",
            second_model="other",
            second_server=second_url,
            second_share=1.0,
        )
        judge = open_judge(settings, tmp_path / "cache.jsonl", opened)
        assert isinstance(judge, SecondOpinion)
        assert second_opinion_summary(judge) == ""  # nothing was judged so far
        judgement = judge.judge(played("c/1"))
        assert judgement.verdict.success
        assert judgement.second is not None
        assert not judgement.second.success
        assert [log.completions[0]["model"] for log in (first_log, second_log)] == [
            "judge",
            "other",
        ]
        assert second_opinion_summary(judge) == (
            "a second judge disagreed on 100.0% of 1 (could not be asked: 0)"
        )


def test_one_judge_alone_has_no_second_opinion(tmp_path: Path) -> None:
    with serving(YES, models=("judge",)) as (url, _), ExitStack() as opened:
        judge = open_judge(vlm(url), tmp_path / "cache.jsonl", opened)
        assert judge.judge(played("c/1")).verdict.success
        assert second_opinion_summary(judge) == ""


def test_a_package_that_is_missing_is_named_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    for name in ("distrl.chat.chat_server", "distrl.judging.vlm_judge"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    settings = vlm("http://localhost:1/v1")
    with ExitStack() as opened, pytest.raises(NotInstalled, match=r"'httpx'.*distrl\[served\]"):
        open_judge(settings, tmp_path / "cache.jsonl", opened)
