"""The phones of a cluster are asked on their nodes before a run takes collectors."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.chat.chat_protocol import Reply, serving
from tests.devices.adb.lease_holder import leased_elsewhere
from tests.devices.adb.served_phones import ServedPhones, served_phones
from tests.engine.aitw_files import aitw_settings
from tests.engine.ray.small_cluster import SmallCluster
from tests.engine.run.test_preflight import reading, vlm
from tests.engine.test_vlm_judged_runs import by_the_question
from tests.engine.tiny_runs import tiny_config

from distrl.config.training_config import TrainingConfig
from distrl.engine.run.preflight import preflight
from distrl.errors import ConsentMissing, InvalidSetting, UnusableModel

pytest.importorskip("ray")
from distrl.engine.ray import node_phones
from distrl.engine.ray.node_phones import check_node_phones, look_at_free_phones, nodes_to_ask
from distrl.engine.ray.placement import Node


@pytest.fixture
def phones() -> Iterator[ServedPhones]:
    with served_phones(2) as served:
        yield served


@pytest.fixture
def own_leases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def on_a_cluster(folder: Path, model: Path, phones: ServedPhones, *more: str) -> TrainingConfig:
    words = ("engine.kind=ray", "devices.kind=adb", f"devices.android.adb_port={phones.adb.port}")
    return tiny_config(folder, model, *words, *more)


@pytest.mark.usefixtures("own_leases")
def test_a_node_looks_at_what_is_free_and_asks_for_consent(
    phones: ServedPhones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = phones.phones.addresses
    config = on_a_cluster(tmp_path, tmp_path, phones)
    sizes = look_at_free_phones(config, str(tmp_path / "run"), 2)
    assert list(sizes.values()) == [(360, 720)] * 2
    with leased_elsewhere(first, tmp_path / "theirs"):
        [(name, _)] = look_at_free_phones(config, str(tmp_path / "run"), 2).items()
        assert second in name
    with pytest.raises(InvalidSetting, match="3 phones are wanted on"):
        look_at_free_phones(config, str(tmp_path / "run"), 3)
    monkeypatch.setenv("DISTRL_CONSENT", str(tmp_path / "consent"))
    monkeypatch.setitem(phones.handset().properties, "ro.hardware", "qcom")
    handsets = on_a_cluster(
        tmp_path, tmp_path, phones, *aitw_settings(tmp_path), *vlm("http://localhost:1/v1")
    )
    with pytest.raises(ConsentMissing, match="is a handset"):
        look_at_free_phones(handsets, str(tmp_path / "run"), 2)


def test_nodes_with_phones_are_asked_for_as_many_as_the_run_can_use(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path, "devices.count=3")
    few, many = Node("a", "a", {"phone": 2.0}), Node("b", "b", {"phone": 9.0})
    bare = Node("c", "c", {"CPU": 4.0})
    assert nodes_to_ask(config, [few, bare, many]) == [(few, 2), (many, 3)]
    assert nodes_to_ask(config, [bare]) == [(bare, 3)]  # all is on one machine
    assert nodes_to_ask(config, [bare, bare]) == []  # nobody knows where they are


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_model_that_cannot_take_the_screens_of_a_node_is_refused_before_a_collector_plays(
    nodes: SmallCluster,
    phones: ServedPhones,
    tmp_path: Path,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the questions that the learner asks before it takes collectors."""
    monkeypatch.setattr(node_phones, "LOOK_SECONDS", 1700.0)  # the cores may be shared
    nodes.add(phones=2)
    with serving(Reply(by_the_question)) as (url, _):
        words = (*aitw_settings(tmp_path), *vlm(url))
        config = on_a_cluster(tmp_path, reading(tmp_path, model, 1080, 2400), phones, *words)
        with pytest.raises(UnusableModel, match=r"phone 0 .*360 × 720 .*1080 × 2400"):
            preflight(config, tmp_path, lambda _: None, check_node_phones)
