"""Policies by the name of their model, and what was exported on top of one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.agent.made_up_screens import blocks
from tests.agent.tiny_models import change_json, tiny_model

from distrl.agent import loading
from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.critic import CriticSettings
from distrl.agent.dialects import DIALECTS
from distrl.agent.loading import load_policy, open_policy
from distrl.agent.lora import LoraSettings
from distrl.agent.model_directory import FAMILIES, saved_type
from distrl.agent.policy_weights import export_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import CorruptModel, InvalidSetting, NotAModel
from distrl.records import Observation

OBSERVATIONS = [Observation("Add a note.", blocks(1), ()), Observation("Go home.", blocks(2), ())]
ADAPTED = VlmSettings(lora=LoraSettings(rank=2), critic=CriticSettings(heads=3))


def moved(policy: VlmPolicy) -> VlmPolicy:
    """The policy after some training, so to speak: everything that is learned has moved."""
    rng = torch.Generator().manual_seed(1)
    changed = {
        name: each + 0.1 * torch.randn(each.shape, generator=rng)
        for name, each in policy.weights().items()
    }
    policy.load_weights(changed, version=7)
    return policy


def answers(policy: VlmPolicy) -> list[tuple[int, ...]]:
    policy.sampling = SamplingSettings(greedy=True, max_new_tokens=8)
    return [decision.token_ids for decision in policy.decide(OBSERVATIONS)]


def test_every_family_speaks_a_dialect_that_we_know() -> None:
    assert {family.dialect for family in FAMILIES} <= set(DIALECTS)


def test_the_familys_own_dialect_unless_another_is_asked_for() -> None:
    qwen = tiny_model("qwen2_5_vl")
    assert load_policy(qwen).prompter.dialect.name == "qwen2_5_vl"
    assert load_policy(tiny_model("auto_ui")).prompter.dialect.name == "aitw"
    assert load_policy(str(qwen), dialect="ui_tars_1_5").prompter.dialect.name == "ui_tars_1_5"
    with pytest.raises(InvalidSetting, match=r"dialect='klingon'.*only compact"):
        load_policy(qwen, dialect="klingon")


def test_how_answers_are_drawn() -> None:
    qwen = tiny_model("qwen2_5_vl")
    assert load_policy(qwen).sampling == SamplingSettings(1.0, 256, greedy=False)
    assert load_policy(qwen, dialect="compact").sampling.max_new_tokens == 64
    chosen = load_policy(qwen, greedy=True, temperature=0.5, max_new_tokens=3, seed=4)
    assert chosen.sampling == SamplingSettings(0.5, 3, greedy=True)


def test_seeds_decide_what_is_drawn() -> None:
    qwen = tiny_model("qwen2_5_vl")
    first, again, other = (
        [
            each.token_ids
            for each in load_policy(qwen, seed=s, max_new_tokens=8).decide(OBSERVATIONS)
        ]
        for s in (1, 1, 2)
    )
    assert first == again != other


def test_weights_are_float32_on_a_cpu(tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    shutil.copytree(tiny_model("internvl"), saved)
    change_json(saved / "config.json", dtype="bfloat16")
    assert saved_type(saved) == "bfloat16"
    assert load_policy(saved).network.dtype == torch.float32
    change_json(saved / "config.json", dtype=None, text_config={"torch_dtype": "float16"})
    assert saved_type(saved) == "float16"
    with pytest.raises(InvalidSetting, match="bfloat16"):
        load_policy(tiny_model("internvl"), weights="bfloat16")


def test_the_starter_is_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(loading, "STARTER_DIRECTORY", tiny_model("internvl"))
    assert load_policy("starter").directory == tiny_model("internvl")
    monkeypatch.setattr(loading, "STARTER_DIRECTORY", tmp_path / "not here")
    with pytest.raises(NotAModel, match="starter model is not in this installation"):
        load_policy("starter")


def test_exported_adapters_go_onto_their_model(tmp_path: Path) -> None:
    qwen = tiny_model("qwen3_vl")
    trained = moved(open_policy(qwen, ADAPTED))
    export_policy(trained, tmp_path / "adapter")
    loaded = load_policy(qwen, adapter=tmp_path / "adapter")
    assert loaded.weight_version == 7
    assert answers(loaded) == answers(trained) != answers(load_policy(qwen))
    assert torch.equal(loaded.value_logits(OBSERVATIONS), trained.value_logits(OBSERVATIONS))


def test_what_was_exported_is_asked_as_it_was_while_it_learned(tmp_path: Path) -> None:
    settings = VlmSettings(lora=LoraSettings(rank=2), past_actions=2, past_screens=1)
    trained = open_policy(tiny_model("qwen3_vl"), settings, dialect="ui_tars")
    export_policy(trained, tmp_path / "adapter")
    prompter = load_policy(tiny_model("qwen3_vl"), adapter=tmp_path / "adapter").prompter
    assert (prompter.dialect.name, prompter.past_actions, prompter.past_screens) == (
        "ui_tars",
        2,
        1,
    )


def test_adapters_go_onto_no_other_model(tmp_path: Path) -> None:
    """A model of the same family and size, but with other weights, is another model."""
    export_policy(moved(open_policy(tiny_model("smolvlm"), ADAPTED)), tmp_path / "adapter")
    other = Path(shutil.copytree(tiny_model("smolvlm"), tmp_path / "other"))
    weights = {name: 1.1 * each for name, each in load_file(other / "model.safetensors").items()}
    save_file(weights, other / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        CorruptModel, match=r"goes onto .*smolvlm, and this policy's model is anoth"
    ):
        load_policy(other, adapter=tmp_path / "adapter")


def test_a_whole_exported_model_is_a_model(tmp_path: Path) -> None:
    intern = tiny_model("internvl")
    trained = moved(open_policy(intern, VlmSettings(critic=CriticSettings(heads=3))))
    export_policy(trained, tmp_path / "whole")
    loaded = load_policy(tmp_path / "whole")
    assert loaded.weight_version == 7
    assert answers(loaded) == answers(trained) != answers(load_policy(intern))
    assert torch.equal(loaded.value_logits(OBSERVATIONS), trained.value_logits(OBSERVATIONS))


def test_an_exported_adapter_stands_for_the_model_that_it_was_trained_on(tmp_path: Path) -> None:
    base = Path(shutil.copytree(tiny_model("gemma3"), tmp_path / "base"))
    trained = moved(open_policy(base, ADAPTED))
    export_policy(trained, tmp_path / "adapter")
    loaded = load_policy(tmp_path / "adapter")
    assert answers(loaded) == answers(trained) != answers(load_policy(base))
    shutil.rmtree(base)
    with pytest.raises(NotAModel, match=r"adapters for the model in .*base, which is not there"):
        load_policy(tmp_path / "adapter")


def test_a_directory_that_is_no_adapter(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text("{}")
    change_json(tmp_path / "policy.json", format="something else", format_version=1)
    with pytest.raises(CorruptModel, match=r"policy\.json"):
        load_policy(tiny_model("gemma3"), adapter=tmp_path)
