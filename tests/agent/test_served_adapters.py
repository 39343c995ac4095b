"""Adapters on a server, by version: a stand-in of both protocols with a real model behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import torch
from tests.agent.lora_server import BASE, LoraServer, serving_adapters
from tests.agent.tiny_models import tiny_model

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.dialects import dialect_named
from distrl.agent.lora import LoraSettings
from distrl.agent.model_directory import open_model
from distrl.agent.policy_builder import vlm_policy
from distrl.agent.served_adapters import KEPT
from distrl.agent.served_gap import check_gap, measure_gap, probes
from distrl.agent.served_loading import open_served
from distrl.agent.served_policy import ServedPolicy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import InvalidSetting, RequestRefused, UnusableAnswer

FAMILY = "qwen2_5_vl"
SETTINGS = VlmSettings(
    lora=LoraSettings(rank=2, targets=r"model\.language_model\..*\.(q_proj|v_proj)"),
    sampling=SamplingSettings(temperature=0.7, max_new_tokens=5),
)


@pytest.fixture(autouse=True)
def small_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures of some patches, where those of a phone's size have a thousand."""
    monkeypatch.setattr("distrl.agent.served_gap.PROBE_SHAPE", (168, 112, 3))


@contextmanager
def served(server: LoraServer, folder: Path) -> Iterator[ServedPolicy]:
    with (
        serving_adapters(server) as url,
        closing(open_served(server.directory, SETTINGS, url, folder)) as policy,
    ):
        yield policy


def own_policy() -> VlmPolicy:
    opened = open_model(tiny_model(FAMILY))
    return vlm_policy(opened, dialect_named(opened.family.dialect), SETTINGS)


def trained(policy: VlmPolicy, version: int) -> VlmPolicy:
    """With adapters that change what the model says."""
    noise = torch.Generator().manual_seed(version)
    weights = {
        name: torch.randn(each.shape, generator=noise) if "lora_" in name else each
        for name, each in policy.weights().items()
    }
    policy.load_weights(weights, version)
    return policy


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_the_adapters_of_a_version_decide_and_agree_with_the_learners_own(
    kind: str, tmp_path: Path
) -> None:
    server, own = LoraServer(kind, tiny_model(FAMILY)), own_policy()  # type: ignore[arg-type]
    with served(server, tmp_path) as policy:
        assert policy.weight_version == 0
        assert measure_gap(policy, own, probes()).most < 1e-3
        own = trained(own, 3)
        policy.load_weights(own.weights(), 3)
        decisions = policy.decide(probes())
        gap = measure_gap(policy, own, probes())
    assert {each.weight_version for each in decisions} == {3}
    assert gap.most < 1e-3
    assert server.asked[0] == BASE
    assert server.asked[-1].endswith("-v3")


def test_other_weights_than_the_servers_show_and_are_refused(tmp_path: Path) -> None:
    server, own = LoraServer("vllm", tiny_model(FAMILY)), own_policy()
    with served(server, tmp_path) as policy:
        assert "nats a token apart" in check_gap(policy, own)
        with pytest.raises(UnusableAnswer, match=r"Serve the model of agent\.model"):
            check_gap(policy, trained(own, 1))


def test_log_probabilities_without_the_temperature_are_refused(tmp_path: Path) -> None:
    server = LoraServer("vllm", tiny_model(FAMILY), temperature_applied=False)
    with (
        served(server, tmp_path) as policy,
        pytest.raises(UnusableAnswer, match="processed_logprobs"),
    ):
        check_gap(policy, own_policy())


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_a_server_started_without_adapters_is_told_how_to_be(kind: str, tmp_path: Path) -> None:
    server = LoraServer(kind, tiny_model(FAMILY), lora=False)  # type: ignore[arg-type]
    with (
        served(server, tmp_path) as policy,
        pytest.raises(RequestRefused, match="--enable-lora"),
    ):
        policy.load_weights(own_policy().weights(), 1)


@pytest.mark.slow
def test_two_collectors_hand_over_the_same_version_and_old_ones_go(tmp_path: Path) -> None:
    server, own = LoraServer("vllm", tiny_model(FAMILY)), own_policy()
    with (
        serving_adapters(server) as url,
        closing(open_served(server.directory, SETTINGS, url, tmp_path)) as one,
        closing(open_served(server.directory, SETTINGS, url, tmp_path)) as other,
    ):
        for version in range(1, KEPT + 3):
            weights = trained(own, version).weights()
            one.load_weights(weights, version)
            other.load_weights(weights, version)
        assert {each.weight_version for each in other.decide(probes())} == {KEPT + 2}
    assert [name.rpartition("-")[2] for name in server.unloaded] == ["v1", "v2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(server.adapters)


def test_a_server_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    server = LoraServer("vllm", tiny_model(FAMILY))
    object.__setattr__(server, "kind", "llama.cpp")
    with pytest.raises(UnusableAnswer, match="neither vLLM nor SGLang"), served(server, tmp_path):
        pass


def test_a_server_has_no_projector_for_a_language_model(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="no server has it"):
        open_served(tiny_model("llama"), SETTINGS, "http://127.0.0.1:9", tmp_path, sees="both")
