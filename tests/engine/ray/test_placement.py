"""Which part goes to which node; no cluster is needed to decide it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.tiny_runs import tiny_config

from distrl.config.sections import EngineSettings
from distrl.errors import InvalidSetting

pytest.importorskip("ray")
from distrl.engine.ray.placement import (
    Node,
    collector_options,
    computing_on,
    learner_options,
    phone_resource,
    server_options,
)

HEAD = Node(28 * "aa", "head", {"CPU": 4.0})
GPU = Node(28 * "bb", "gpu", {"CPU": 16.0, "GPU": 2.0})
PHONES = Node(28 * "cc", "phones", {"CPU": 2.0, "phone": 8.0})


def test_the_learner_goes_to_a_gpu_and_stays_where_its_disk_is() -> None:
    options = learner_options(EngineSettings(), [HEAD, GPU, PHONES], here=HEAD.id)
    assert (options["num_gpus"], options["scheduling_strategy"].node_id) == (1, GPU.id)
    assert not options["scheduling_strategy"].soft
    assert options["runtime_env"]["env_vars"]["OMP_NUM_THREADS"] == "16"


def test_without_a_gpu_the_learner_is_where_the_command_is() -> None:
    settings = EngineSettings(shared_storage=True)
    options = learner_options(settings, [PHONES, HEAD], here=HEAD.id)
    assert (options["num_gpus"], options["scheduling_strategy"].node_id) == (0, HEAD.id)
    assert options["scheduling_strategy"].soft


@pytest.mark.parametrize(
    ("asked", "nodes", "found"),
    [
        ("auto", [HEAD, PHONES], "phone"),
        ("auto", [HEAD, GPU], None),
        ("emulator", [HEAD, PHONES], "emulator"),
    ],
)
def test_collectors_go_where_phones_are(asked: str, nodes: list[Node], found: str | None) -> None:
    assert phone_resource(EngineSettings(phones=asked), nodes) == found


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
