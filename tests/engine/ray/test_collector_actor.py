"""Collectors by the settings of a run; `test_killed_collectors` and others run the actor."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

from tests.engine.ray.cheap_collectors import CheapBuild
from tests.engine.tiny_runs import tiny_config
from tests.episodes.made_up_collectors import ListSink

from distrl.engine.ingest.messages import Heartbeat, Pace
from distrl.engine.ray.collector_actor import ConfiguredBuild, LearnerLink
from distrl.engine.ray.weight_broadcast import WeightReceiver
from distrl.engine.supervision.collector_registry import (
    CollectorInfo,
    HeartbeatReply,
    PacedAdmission,
)
from distrl.errors import LearnerGone, NotAModel

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
        self, info: CollectorInfo, in_flight: int, full: Heartbeat | None, version: int | None
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
        ray.get(learner.heartbeat.remote(INFO, 0, None, None))  # its process is up
        link = LearnerLink(
            learner, INFO, collector, admission, weights, 0.1, 0.1, fetches_weights=False
        )
        link.lost_seconds = 2.0
        with pytest.raises(LearnerGone, match="leaves its phones alone"):
            link.play()
        report = collector.report()
        assert (report.in_flight, report.stuck) == (0, ())
        assert sink.kept  # it had played
    ray.kill(learner)
