"""Which part goes to which node; no cluster is needed to decide it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.tiny_runs import tiny_config

from distrl.config.sections import EngineSettings
from distrl.config.training_config import TrainingConfig
from distrl.engine.run.losses import LearnerHome
from distrl.errors import InvalidSetting

pytest.importorskip("ray")
from distrl.engine.ray import placement
from distrl.engine.ray.placement import (
    Node,
    alive_nodes,
    collector_options,
    computing_on,
    learner_node,
    learner_options,
    phone_resource,
    server_options,
)


def node(number: int, name: str, **resources: float) -> Node:
    address = f"10.0.0.{number}"
    offered = {f"node:{address}": 1.0, **resources}
    return Node(28 * f"a{number}", name, offered, hostname=name, address=address)


HEAD = node(1, "head", CPU=4.0)
GPU = node(2, "gpu", CPU=16.0, GPU=2.0)
PHONES = node(3, "phones", CPU=2.0, phone=8.0)


def test_a_question_to_the_head_that_fails_is_raised_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def other_version(address: str) -> None:
        raise AttributeError(f"{address}: no such call in this version of Ray")

    monkeypatch.setattr(placement, "head_address", lambda: "10.0.0.1:6379")
    monkeypatch.setattr(placement, "control_store", other_version)
    with pytest.raises(AttributeError, match="no such call"):
        alive_nodes()


def test_the_learner_goes_to_a_gpu_and_stays_where_its_disk_is() -> None:
    nodes = [HEAD, GPU, PHONES]
    assert learner_node(nodes, here=HEAD.id) is GPU
    options = learner_options(EngineSettings(), nodes, GPU)
    assert options["num_gpus"] == 1
    assert options["resources"] == {"node:10.0.0.2": 0.001}  # by its address: its id may change
    assert "scheduling_strategy" not in options
    assert options["runtime_env"]["env_vars"]["OMP_NUM_THREADS"] == "16"


def test_without_a_gpu_the_learner_is_where_the_command_is() -> None:
    assert learner_node([PHONES, HEAD], here=HEAD.id) is HEAD
    options = learner_options(EngineSettings(shared_storage=True), [PHONES, HEAD], HEAD)
    assert (options["num_gpus"], options["scheduling_strategy"].node_id) == (0, HEAD.id)
    assert options["scheduling_strategy"].soft


def test_two_nodes_of_one_machine_are_told_apart_by_their_ids() -> None:
    twin = replace(GPU, id=28 * "dd")
    options = learner_options(EngineSettings(), [GPU, twin], twin)
    assert options["scheduling_strategy"].node_id == twin.id
    assert not options["scheduling_strategy"].soft


def test_a_resumed_learner_goes_to_where_it_was_or_nowhere() -> None:
    home = LearnerHome("phones", "10.0.0.3")
    again = replace(PHONES, id=28 * "ee")  # it was cut off, and has joined again
    assert learner_node([HEAD, GPU, again], here=HEAD.id, home=home) is again
    assert learner_node([HEAD, GPU], here=HEAD.id, home=home) is None
    moved = replace(PHONES, address="10.0.0.9")
    assert learner_node([HEAD, moved], here=HEAD.id, home=home) is moved  # its name counts


@pytest.mark.parametrize(
    ("asked", "nodes", "found"),
    [
        ("auto", [HEAD, PHONES], "phone"),
        ("auto", [HEAD, GPU], None),
        ("emulator", [HEAD, PHONES], "emulator"),
    ],
)
def test_collectors_go_where_phones_are(asked: str, nodes: list[Node], found: str | None) -> None:
    assert phone_resource(TrainingConfig(engine=EngineSettings(phones=asked)), nodes) == found


def test_a_collector_takes_the_phones_that_it_looks_after(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path, "devices.count=5", "collection.collectors=2")
    taken = [collector_options(config, [HEAD, PHONES], number) for number in (0, 1)]
    assert [each["resources"] for each in taken] == [{"phone": 3}, {"phone": 2}]
    assert [each["num_cpus"] for each in taken] == [0, 0]


def test_without_phones_collectors_share_the_cpus(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path, "devices.count=8", "collection.collectors=8")
    assert collector_options(config, [HEAD], 3)["num_cpus"] == 0.5


def test_a_policy_server_stays_on_its_node_with_its_share_of_a_gpu_or_with_all_cores() -> None:
    on_gpu, on_cpu = server_options(GPU, 0.5), server_options(PHONES, 0.0)
    for options, node in ((on_gpu, GPU), (on_cpu, PHONES)):
        assert options["scheduling_strategy"].node_id == node.id
        assert not options["scheduling_strategy"].soft
    assert (on_gpu["num_gpus"], on_cpu["num_gpus"]) == (0.5, 0.0)
    assert on_cpu["runtime_env"]["env_vars"]["OMP_NUM_THREADS"] == "2"


def test_who_decides_on_a_cpu_takes_nothing_of_a_learner_on_a_gpu(tmp_path: Path) -> None:
    words = ("agent.policy.device=cuda", "learning.learner.precision=bf16")
    config = computing_on("cpu", tiny_config(tmp_path, tmp_path, *words))
    assert config.agent.policy.device == "cpu"  # bf16 would be refused with it


def test_only_what_never_waits_runs_on_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"synchronous.*engine.kind='ray'"):
        tiny_config(tmp_path, tmp_path, "engine.kind=ray", "collection.mode=synchronous")
    with pytest.raises(InvalidSetting, match="phones='two words'"):
        tiny_config(tmp_path, tmp_path, 'engine.phones="two words"')
