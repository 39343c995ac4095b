"""The learner's calls as a plain object; `test_ray_learning` and others run the actor."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any, cast

import pytest

pytest.importorskip("ray")

from tests.engine.made_up_reports import report
from tests.engine.tiny_runs import tiny_config
from tests.learning.small_circle import SmallCircle
from tests.replay.made_up_trajectories import trajectory

from distrl.config.training_config import load_config
from distrl.engine.ingest.delivery import Acknowledge, ArrivalQueue, TrajectoryReceiver
from distrl.engine.ingest.episode_log import EpisodeLog
from distrl.engine.ingest.messages import Heartbeat, Received
from distrl.engine.ray import learner_actor
from distrl.engine.ray.learner_actor import GROUPS, KEPT, RayLearner, RemoteCollectors, RemoteView
from distrl.engine.ray.weight_broadcast import WeightRef
from distrl.engine.run.collection import Arrived, Collection
from distrl.engine.run.resume import TrainingState
from distrl.episodes.live_feed import LiveUpdate
from distrl.errors import CollectorsLost, DataLost
from distrl.json_lines import LineLog
from distrl.replay.store.trajectory_store import TrajectoryStore
from distrl.replay.trajectory_encoding import encode_trajectory
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Point
from distrl.weights.weight_store import WeightStore

LONG = 30.0  # seconds that no test takes


class Learning:
    """A learner whose run is assembled up to its collection, without the actor around it."""

    def __init__(self, folder: Path, opened: ExitStack, *settings: str) -> None:
        self._opened = opened
        config = tiny_config(folder, folder, "collection.collectors=2", *settings)
        # Any: Ray's types of its methods know only `.remote`
        self.learner: Any = RayLearner(config, str(folder), resumed=False)
        self.store = opened.enter_context(TrajectoryStore(folder / "store"))
        self.weights = WeightStore(folder / "weights")
        lines = opened.enter_context(LineLog.open(folder / "episodes.jsonl"))
        self.episode_log = EpisodeLog(lines, lambda: 50.0)

    def open(self, states: dict[int, str] | None = None) -> Collection:
        arrivals = ArrivalQueue()
        receiver = TrajectoryReceiver(self.store, arrivals, self.episode_log)
        state = TrainingState(SmallCircle().learner, arrivals)
        state.collectors = states or {}
        self.learner._open_broadcast(self.weights)
        collection: Collection = self.learner._open_collection(
            self._opened, receiver, self.episode_log, state
        )
        return collection


@pytest.fixture
def learning(tmp_path: Path) -> Iterator[Learning]:
    with ExitStack() as opened:
        yield Learning(tmp_path, opened)


UNSEEN = LiveUpdate(1, {})


def test_calls_of_collectors_wait_until_the_run_is_assembled(learning: Learning) -> None:
    with ThreadPoolExecutor(1) as beside:
        registration = beside.submit(learning.learner.register, 1, "a/1", "")
        with pytest.raises(TimeoutError):
            registration.result(0.1)
        learning.open({1: '{"played": 3}'})
        found = registration.result(LONG)
    assert (found.info.name, found.info.place) == ("collector-1.1", "a/1")
    assert found.state == '{"played": 3}'  # as it was in the checkpoint


def test_a_heartbeat_is_answered_with_orders_and_weights_only_for_those_who_need_them(
    learning: Learning,
) -> None:
    learning.open()
    info = learning.learner.register(0, "a/1", "").info
    full = Heartbeat(report(name=info.name), (), "{}")
    orders, offer = learning.learner.heartbeat(info, 1, full, -1, UNSEEN)
    assert (orders.finish_within, orders.superseded, offer) == (None, False, None)
    again = learning.learner.register(0, "b/2", "").info
    orders, _ = learning.learner.heartbeat(info, 1, None, None, UNSEEN)
    assert (orders.finish_within, orders.superseded) == (0.0, True)
    assert learning.learner.newer_weights(-1) is None  # nothing was published
    published = WeightRef(3, "", (cast(Any, None),))
    learning.learner._broadcast._offer = published  # to put it there needs a cluster
    for version, due in ((2, published), (3, None), (None, None)):
        orders, offer = learning.learner.heartbeat(again, 1, None, version, UNSEEN)
        assert (orders.superseded, offer) == (False, due)
    assert learning.learner.newer_weights(2) is published


def test_a_delivery_is_answered_when_it_is_stored_and_a_repeated_one_is_known(
    learning: Learning,
) -> None:
    collection = learning.open()
    collection.start()
    info = learning.learner.register(0, "a/1", "").info
    encoded = encode_trajectory(trajectory(f"{info.name}/1"))
    with ThreadPoolExecutor(1) as beside:
        for new in (True, False):
            answer = beside.submit(learning.learner.deliver, encoded).result(LONG)
            assert answer == Received(f"{info.name}/1", new=new)
            assert learning.store.ids == (f"{info.name}/1",)
        learning.learner.deregister(info, Heartbeat(report(name=info.name), (), "{}"))
        collection.stop(0.0)
    assert learning.episode_log.faults["collector_lost"] == 0


def test_a_lost_node_costs_no_restart_and_a_death_does(tmp_path: Path) -> None:
    with ExitStack() as opened:
        learning = Learning(tmp_path, opened, "collection.restarts=1")
        learning.open()
        learning.learner.register(0, "a/1", "")
        assert learning.learner.report_exit(0, ["b/2"]) == 0.0
        learning.learner.register(0, "b/2", "")
        pause = learning.learner.report_exit(0, ["b/2"])
        assert pause is not None
        assert pause > 0.0
        learning.learner.register(0, "b/2", "")
        assert learning.learner.report_exit(0, ["b/2"]) is None  # given up
        assert learning.episode_log.faults["collector_lost"] == 3


def test_a_run_that_plays_nothing_has_no_collectors_to_talk_to(tmp_path: Path) -> None:
    with ExitStack() as opened:
        learning = Learning(
            tmp_path, opened, "learning.learner.mode=offline", "learning.corpus=corpus"
        )
        assert type(learning.open()) is Collection


def test_the_settings_are_written_where_the_learner_is_and_never_over_others(
    tmp_path: Path,
) -> None:
    config = tiny_config(tmp_path, tmp_path)
    elsewhere = tmp_path / "elsewhere" / "run"
    learner = RayLearner(config, str(elsewhere), resumed=False)
    learner._prepare(again=False)
    written = elsewhere / "config.toml"
    assert load_config(written) == config
    written.write_text("# mine")
    learner._prepare(again=True)
    assert written.read_text() == "# mine"


def test_every_call_has_threads_of_its_group() -> None:
    methods = [getattr(RayLearner, name) for name in dir(RayLearner) if not name.startswith("_")]
    groups = {each.__name__: each.__ray_concurrency_group__ for each in methods}
    assert set(groups.values()) == set(GROUPS)
    assert [name for name, group in groups.items() if group == "train"] == ["train"]
    assert [name for name, group in groups.items() if group == "deliver"] == ["deliver"]


# What the run shows -------------------------------------------------------------------------------


def test_every_sentence_is_told_once() -> None:
    view = RemoteView()
    view.say("one")
    first = view.since(None)
    view.say("two")
    view.say("three")
    second = view.since(first)
    assert (first.sentences, second.sentences) == (("one",), ("two", "three"))
    assert view.since(second).sentences == ()


def test_every_point_is_told_once() -> None:
    view = RemoteView()
    points = [Point("learner", number, float(number), {}) for number in range(3)]
    view.add(points[0])
    first = view.since(None)
    view.say("a sentence is no point")
    for point in points[1:]:
        view.add(point)
    assert (first.points, view.since(first).points) == ((points[0],), tuple(points[1:]))


def test_a_new_process_begins_anew() -> None:
    before, after = RemoteView(), RemoteView()
    for number in range(5):
        before.say(str(number))
    after.say("back")
    assert after.since(before.since(None)).sentences == ("back",)


def test_what_nobody_asks_for_is_not_kept_for_ever() -> None:
    view = RemoteView()
    last = view.since(None)
    for number in range(KEPT + 10):
        view.say(str(number))
    told = view.since(last).sentences
    assert len(told) == KEPT
    assert told[-1] == str(KEPT + 9)


# Deliveries of many calls go to one thread together ---------------------------------------------


def received(collectors: RemoteCollectors, count: int) -> list[Arrived]:
    """Rounds of the thread, until that many deliveries have come."""
    rounds: list[Arrived] = []
    while sum(len(each.deliveries) for each in rounds) < count:
        rounds.append(collectors.receive(60.0))
    return rounds


def test_every_call_gets_the_answer_to_its_own_delivery() -> None:
    collectors = RemoteCollectors()
    with ThreadPoolExecutor(8) as calls:
        answers = [calls.submit(collectors.deliver, str(n).encode()) for n in range(8)]
        for arrived in received(collectors, 8):
            for encoded, reply in arrived.deliveries:
                reply(Received(encoded.decode(), new=True))
        assert [each.result() for each in answers] == [Received(str(n), new=True) for n in range(8)]


def test_what_has_come_meanwhile_is_taken_together() -> None:
    collectors = RemoteCollectors()
    with ThreadPoolExecutor(3) as calls:
        answers = [calls.submit(collectors.deliver, b"") for _ in range(3)]
        while collectors._deliveries.qsize() < 3:
            time.sleep(0.001)
        arrived = collectors.receive(60.0)
        assert (len(arrived.deliveries), arrived.heartbeats) == (3, [])
        for _, reply in arrived.deliveries:
            reply(Received("", new=False))
        assert all(each.result() == Received("", new=False) for each in answers)
    assert collectors.receive(0.0).deliveries == []


def test_a_call_that_waits_when_the_run_ends_is_told_so() -> None:
    collectors = RemoteCollectors()
    with ThreadPoolExecutor(1) as calls:
        answer = calls.submit(collectors.deliver, b"")
        received(collectors, 1)
        collectors.close()
        with pytest.raises(CollectorsLost, match="not acknowledged is not stored"):
            answer.result()
    with pytest.raises(CollectorsLost):
        collectors.deliver(b"")


def test_what_was_stored_as_the_run_ended_is_acknowledged_all_the_same() -> None:
    class AnsweredAtOnce(SimpleQueue[tuple[bytes, Acknowledge]]):
        def put(self, item: tuple[bytes, Acknowledge], *_: object, **__: object) -> None:
            item[1](Received("a", new=True))

    collectors = RemoteCollectors()
    collectors._deliveries = AnsweredAtOnce()
    collectors.close()
    assert collectors.deliver(b"") == Received("a", new=True)


# Where the run is ---------------------------------------------------------------------------------


def learner_in(folder: Path, **settings: Any) -> Any:
    return RayLearner(tiny_config(folder, folder), str(folder / "run"), resumed=True, **settings)


def test_a_resume_on_a_machine_without_the_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner_actor, "this_place", lambda: "10.0.0.1/abcdef")
    run = RunDirectory(tmp_path / "run")
    run.path.mkdir()
    run.write_config(tiny_config(tmp_path, tmp_path))  # the command writes it: it proves nothing
    with pytest.raises(
        DataLost, match=r"is not on 10\.0\.0\.1/abcdef.*but on gpu.*--accept-losses"
    ):
        learner_in(tmp_path, home="gpu (10.0.0.2)")._prepare(again=False)
    learner_in(tmp_path, home="gpu (10.0.0.2)", accept_losses=True)._prepare(again=False)
    learner_in(tmp_path)._prepare(again=False)  # no learner had begun
    run.metrics.touch()
    learner_in(tmp_path, home="gpu (10.0.0.2)")._prepare(again=False)  # here it is


def test_a_learner_that_ray_restarts_finds_its_run_or_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner_actor, "this_place", lambda: "10.0.0.1/abcdef")
    with pytest.raises(DataLost, match="another node"):
        learner_in(tmp_path)._prepare(again=True)
    learner_in(tmp_path)._prepare(again=False)
    learner_in(tmp_path)._prepare(again=True)
