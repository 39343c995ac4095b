"""Collectors by the settings of a run; `test_killed_collectors` and others run the actor."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("ray")

from tests.engine.tiny_runs import tiny_config
from tests.episodes.made_up_collectors import ListSink

from distrl.engine.ray.collector_actor import ConfiguredBuild
from distrl.engine.ray.weight_broadcast import WeightReceiver
from distrl.engine.supervision.collector_registry import CollectorInfo, PacedAdmission
from distrl.errors import NotAModel

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
