"""Collectors by the settings of a run; `test_killed_collectors` and others run the actor."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("ray")

from tests.engine.ray.cheap_collectors import CheapBuild
from tests.engine.tiny_runs import tiny_config
from tests.episodes.made_up_collectors import ListSink

from distrl.devices.safety.refusals import Refusal, append_refusals
from distrl.engine.ingest.live_relay import LiveRelay
from distrl.engine.ingest.messages import Heartbeat, Pace
from distrl.engine.ray.collector_actor import ConfiguredBuild, LearnerLink
from distrl.engine.ray.weight_broadcast import WeightReceiver, WeightRef
from distrl.engine.supervision.collector_registry import (
    CollectorInfo,
    HeartbeatReply,
    PacedAdmission,
)
from distrl.episodes.live_feed import FOLDER, LEASE, Audience, LiveFeed, LiveUpdate
from distrl.errors import DeviceTimeout, LearnerGone, NotAModel
from distrl.view.live_wall import LiveWall

INFO = CollectorInfo("collector-1.3", 1, "a/1")
PARTS = (ListSink(), WeightReceiver(), PacedAdmission())


def test_a_collector_has_the_name_and_the_phones_of_its_place_in_the_run(
    tmp_path: Path, model: Path
) -> None:
    config = tiny_config(tmp_path, model, "devices.count=5", "collection.collectors=2")
    run = tmp_path / "elsewhere" / "run"
    with ExitStack() as opened:
        collector = ConfiguredBuild(config, str(run))(INFO, *PARTS, opened)
        report = collector.report()
    assert (report.name, report.slots) == ("collector-1.3", 2)  # the second has phones 1 and 3
    assert (run / "logs").is_dir()  # made on its node
    assert run.stat().st_mode & 0o777 == 0o700  # others on the machine see no screens


def test_without_a_model_there_is_no_collector(tmp_path: Path) -> None:
    build = ConfiguredBuild(
        tiny_config(tmp_path, tmp_path / "none", "collection.collectors=2"), str(tmp_path)
    )
    with ExitStack() as opened, pytest.raises(NotAModel, match="there is no directory"):
        build(INFO, *PARTS, opened)


def test_where_a_server_decides_the_collector_opens_no_model(tmp_path: Path) -> None:
    settings = ("engine.policy=node", "collection.collectors=2")
    config = tiny_config(tmp_path, tmp_path / "none", *settings)
    with ExitStack() as opened:
        collector = ConfiguredBuild(config, str(tmp_path))(INFO, *PARTS, opened)
        assert collector.report().name == "collector-1.3"


class LearnerThatIsCutOff:
    """Answers heartbeats until one reports a finished episode, and then no more."""

    def heartbeat(
        self,
        info: CollectorInfo,
        in_flight: int,
        full: Heartbeat | None,
        version: int | None,
        live: LiveUpdate,
    ) -> tuple[HeartbeatReply, None]:
        if full is not None and full.finished:
            threading.Event().wait()
        return HeartbeatReply(Pace(version=0, free=True)), None


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_without_a_reply_of_its_learner_a_collector_leaves_its_phones_alone(
    tmp_path: Path,
) -> None:
    import ray

    sink, weights, admission = ListSink(), WeightReceiver(), PacedAdmission()
    with ExitStack() as opened:
        (tmp_path / "hurry").touch()
        collector = CheapBuild(tmp_path / "hurry")(INFO, sink, weights, admission, opened)
        learner: Any = ray.remote(num_cpus=0)(LearnerThatIsCutOff).remote()
        ray.get(
            learner.heartbeat.remote(INFO, 0, None, None, LiveUpdate(0, {}))
        )  # its process is up
        link = LearnerLink(
            learner, INFO, collector, admission, weights, 0.1, 0.1, fetches_weights=False
        )
        link.lost_seconds = 10.0
        with pytest.raises(LearnerGone, match="leaves its phones alone"):
            link.play()
        report = collector.report()
        assert (report.in_flight, report.stuck) == (0, ())
        assert sink.kept  # it had played
    ray.kill(learner)


class SlowLearner:
    """Sends weights after some heartbeats only, ends the run at once, and is slow to let go."""

    def __init__(self) -> None:
        self._beats = 0
        self._enough = threading.Event()
        self._content: tuple[Any] | None = None
        self.deregistered = False

    def offer(self, content: tuple[Any]) -> None:
        self._content = content

    def heartbeat(
        self,
        info: CollectorInfo,
        in_flight: int,
        full: Heartbeat | None,
        version: int | None,
        live: LiveUpdate,
    ) -> tuple[HeartbeatReply, WeightRef | None]:
        self._beats += 1
        if self._beats >= 4:
            self._enough.set()
        offer = None if self._content is None else WeightRef(1, "none", self._content)
        return HeartbeatReply(Pace(version=0), finish_within=0.0), offer

    def content(self) -> NDArray[np.uint8]:
        assert self._enough.wait(60.0), "no heartbeats while the first weights are fetched"
        return np.zeros(8, np.uint8)  # damaged: the next offer is tried

    def deregister(self, info: CollectorInfo, last: Heartbeat) -> None:
        time.sleep(1.0)
        self.deregistered = True

    def seen(self) -> tuple[int, bool]:
        return self._beats, self.deregistered


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_a_slow_learner_or_slow_weights_cost_no_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    monkeypatch.setattr("distrl.engine.ray.collector_actor.LAST_SECONDS", 0.1)
    (tmp_path / "hurry").touch()
    remote: Any = ray.remote  # its types lack max_concurrency
    learner = remote(num_cpus=0, max_concurrency=4)(SlowLearner).remote()
    content = learner.content.remote()
    ray.get(learner.offer.remote((content,)))
    weights, admission = WeightReceiver(), PacedAdmission()
    with ExitStack() as opened:
        collector = CheapBuild(tmp_path / "hurry")(INFO, ListSink(), weights, admission, opened)
        LearnerLink(
            learner, INFO, collector, admission, weights, 0.05, 0.1, fetches_weights=True
        ).play()
    ray.get(content)  # it came in time
    beats, deregistered = ray.get(learner.seen.remote())
    assert beats >= 4
    assert deregistered
    ray.kill(learner)


class LearnerThatIsWatched:
    """Somebody looks at its phones; keeps what heartbeats bring of them, and ends the run then."""

    def __init__(self, run: Path) -> None:
        self._relay = LiveRelay(run)

    def heartbeat(
        self,
        info: CollectorInfo,
        in_flight: int,
        full: Heartbeat | None,
        version: int | None,
        live: LiveUpdate,
    ) -> tuple[HeartbeatReply, None]:
        self._relay.take(info.name, live)
        over = 0.0 if live.slots else None
        return HeartbeatReply(Pace(version=0, free=True), over, watched=self._relay.watched), None

    def deregister(self, info: CollectorInfo, last: Heartbeat) -> None:
        pass


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_phones_of_another_disk_are_on_the_wall_of_the_learners_run(tmp_path: Path) -> None:
    import ray

    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    run.mkdir()
    assert Audience(run).renew()
    later = time.time() + 3600.0
    os.utime(run / FOLDER / LEASE, (later, later))
    weights, admission = WeightReceiver(), PacedAdmission()
    with ExitStack() as opened:
        (tmp_path / "hurry").touch()
        collector = CheapBuild(tmp_path / "hurry")(INFO, ListSink(), weights, admission, opened)
        collector.live = LiveFeed(elsewhere, INFO.name, tuple(collector.report().busy))
        learner: Any = ray.remote(num_cpus=0)(LearnerThatIsWatched).remote(run)
        LearnerLink(
            learner, INFO, collector, admission, weights, 0.1, 0.1, fetches_weights=False
        ).play()
    ray.kill(learner)
    assert list(LiveWall(run).changed())
    assert not elsewhere.exists()


class LearnerThatKeeps:
    """Keeps full heartbeats, and ends the run with the first that brings a refusal."""

    def __init__(self) -> None:
        self.heard: list[Heartbeat] = []

    def heartbeat(
        self,
        info: CollectorInfo,
        in_flight: int,
        full: Heartbeat | None,
        version: int | None,
        live: LiveUpdate,
    ) -> tuple[HeartbeatReply, None]:
        self.heard += [full] if full is not None else []
        refused = full is not None and full.refusals is not None and full.refusals.refusals
        return HeartbeatReply(Pace(version=0, free=True), 0.0 if refused else None), None

    def deregister(self, info: CollectorInfo, last: Heartbeat) -> None:
        self.heard.append(last)

    def all(self) -> list[Heartbeat]:
        return self.heard


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_what_phones_of_another_disk_refused_comes_with_heartbeats_once(
    tmp_path: Path, model: Path
) -> None:
    import ray

    run = tmp_path / "elsewhere"
    config = tiny_config(tmp_path, model, "devices.count=2", "collection.collectors=2")
    learner: Any = ray.remote(num_cpus=0)(LearnerThatKeeps).remote()
    ray.get(learner.all.remote())  # its process is up
    weights, admission = WeightReceiver(), PacedAdmission()
    refused = Refusal(1000.0, "phone-1", "Enter()", "Enter may send what was written")
    with ExitStack() as opened:
        collector = ConfiguredBuild(config, str(run))(INFO, ListSink(), weights, admission, opened)
        append_refusals(run / "logs" / "refusals-1.jsonl", refused)  # as its guard would
        LearnerLink(
            learner, INFO, collector, admission, weights, 0.1, 0.1, fetches_weights=False
        ).play()
    batches = [each.refusals for each in ray.get(learner.all.remote())]
    assert all(batches)
    assert [each for batch in batches if batch for each in batch.refusals] == [refused]
    assert not (run / "refusals.jsonl").exists()  # it may be the learner's own directory
    ray.kill(learner)


@pytest.mark.ray
@pytest.mark.usefixtures("cluster")
def test_a_collector_whose_phones_all_hang_names_them_before_it_fails(tmp_path: Path) -> None:
    import ray

    (tmp_path / "hurry").touch()
    learner: Any = ray.remote(num_cpus=0)(LearnerThatKeeps).remote()
    ray.get(learner.all.remote())  # its process is up
    weights, admission = WeightReceiver(), PacedAdmission()
    with ExitStack() as opened:
        collector = CheapBuild(tmp_path / "hurry")(INFO, ListSink(), weights, admission, opened)

        def hangs(_: int | None = None) -> None:
            error = DeviceTimeout("no screen for 300 s")
            collector._metrics.failed_start("phone-1", error)
            raise error

        collector.run = hangs  # type: ignore[method-assign, assignment]
        with pytest.raises(DeviceTimeout):
            LearnerLink(
                learner, INFO, collector, admission, weights, 0.1, 600.0, fetches_weights=False
            ).play()
    last = ray.get(learner.all.remote())[-1]
    assert last.report.troubles == {"phone-1": "DeviceTimeout: no screen for 300 s"}
    ray.kill(learner)
