"""What was learned, on disk and back: for us, for PEFT, and never onto the wrong model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from tests.agent.tiny_models import change_json, tiny_model
from tests.agent.vlm_policies import SHARP, observations, tiny_policy
from transformers import AutoModelForImageTextToText

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.critic import CriticSettings
from distrl.agent.dialects.compact import COMPACT
from distrl.agent.loading import open_policy
from distrl.agent.lora import LoraSettings
from distrl.agent.model_directory import open_model
from distrl.agent.policy_builder import vlm_policy
from distrl.agent.policy_weights import export_policy, load_exported, read_manifest
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import CorruptModel, UsageError
from distrl.records import Decision

ADAPTERS = LoraSettings(rank=4, alpha=8)
ANSWERS = [(30, 41, 52), (63, 74), (85, 96, 107)]
GREEDY = SamplingSettings(max_new_tokens=5, greedy=True)


def changed(policy: VlmPolicy, version: int = 9) -> VlmPolicy:
    """The same policy with other weights, as after some training."""
    noise = torch.Generator().manual_seed(version)
    moved = {
        name: each + 0.2 * torch.randn(each.shape, generator=noise)
        for name, each in policy.weights().items()
    }
    policy.load_weights(moved, version)
    return policy


def opinions(policy: VlmPolicy) -> list[torch.Tensor]:
    with torch.no_grad():
        scores = policy.score(observations(), ANSWERS)
    return [scores.log_probs, scores.value_logits]


@pytest.mark.parametrize("lora", [None, ADAPTERS], ids=["whole", "adapters"])
@pytest.mark.parametrize("family", ["qwen2_5_vl", "gemma3", "auto_ui"])
def test_what_is_exported_comes_back_to_the_bit(
    family: str, lora: LoraSettings | None, tmp_path: Path
) -> None:
    policy = changed(tiny_policy(family, lora=lora))
    export_policy(policy, tmp_path / "export")
    fresh = tiny_policy(family, lora=lora, seed=5)
    assert load_exported(fresh, tmp_path / "export") == fresh.weight_version == 9
    for found, wanted in zip(opinions(fresh), opinions(policy), strict=True):
        assert torch.equal(found, wanted)


@pytest.mark.parametrize("lora", [None, ADAPTERS], ids=["whole", "adapters"])
def test_an_export_opens_as_the_policy_that_it_was(
    lora: LoraSettings | None, tmp_path: Path
) -> None:
    policy = changed(tiny_policy("qwen3_vl", lora=lora, past_actions=1, sampling=GREEDY))
    export_policy(policy, tmp_path / "export")
    model, adapter = (
        (tiny_model("qwen3_vl"), tmp_path / "export") if lora else (tmp_path / "export", None)
    )
    again = open_policy(model, VlmSettings(sampling=GREEDY), adapter=adapter)
    assert again.prompter.dialect.name == "compact"  # not what Qwen3-VL speaks by itself
    assert (again.prompter.past_actions, again.prompter.past_screens) == (1, 1)
    assert said(again) == said(policy)


def said(policy: VlmPolicy) -> list[Decision]:
    return policy.decide(observations())


@pytest.mark.parametrize("family", ["smolvlm", "auto_ui"])
def test_peft_reads_our_adapters(family: str, tmp_path: Path) -> None:
    policy = changed(tiny_policy(family, lora=ADAPTERS))
    export_policy(policy, tmp_path / "export")
    plain = AutoModelForImageTextToText.from_pretrained(tiny_model(family))
    wearing = PeftModel.from_pretrained(plain, str(tmp_path / "export"))
    inputs = policy.builder.build([policy.prompter.write(observations()[1])]).tensors
    more = {"decoder_input_ids": torch.tensor([[0, 30]])} if family == "auto_ui" else {}
    with torch.no_grad():
        ours, theirs = (each(**inputs, **more).logits for each in (policy.network, wearing))
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
        with wearing.disable_adapter():
            assert not torch.allclose(wearing(**inputs, **more).logits, ours, atol=1e-2)


def test_a_whole_export_is_a_model_like_any_other(tmp_path: Path) -> None:
    policy = changed(tiny_policy("idefics3"))
    export_policy(policy, tmp_path / "export")
    again = vlm_policy(
        open_model(tmp_path / "export"), COMPACT, VlmSettings(past_screens=1, sampling=SHARP)
    )
    assert torch.equal(opinions(again)[0], opinions(policy)[0])


def test_what_was_exported_can_be_trained_on_and_exported_again(tmp_path: Path) -> None:
    export_policy(tiny_policy("idefics3"), tmp_path / "first", 1)
    export_policy(open_policy(tmp_path / "first", VlmSettings()), tmp_path / "second", 2)
    again = open_policy(tmp_path / "second", VlmSettings())
    assert again.weight_version == read_manifest(tmp_path / "second").weight_version == 2


def test_an_export_without_its_manifest_is_not_taken_for_any_model(tmp_path: Path) -> None:
    export_policy(tiny_policy("idefics3"), tmp_path / "export", 1)
    (tmp_path / "export" / "policy.json").unlink()
    with pytest.raises(CorruptModel, match=r"policy\.json is gone"):
        open_policy(tmp_path / "export", VlmSettings())


def test_an_adapter_goes_onto_no_other_model(tmp_path: Path) -> None:
    export_policy(tiny_policy("qwen2_vl", lora=ADAPTERS), tmp_path / "export")
    other = shutil.copytree(tiny_model("qwen2_vl"), tmp_path / "other")
    model = AutoModelForImageTextToText.from_pretrained(other)
    with torch.no_grad():
        model.lm_head.weight.neg_()  # the same shapes, another model
    model.save_pretrained(other)
    with pytest.raises(CorruptModel, match=r"goes onto .*qwen2_vl, .* is another one .*other"):
        open_policy(other, VlmSettings(), adapter=tmp_path / "export")
    open_policy(tiny_model("qwen2_vl"), VlmSettings(), adapter=tmp_path / "export")
    with pytest.raises(CorruptModel, match="is another one"):
        load_exported(tiny_policy("qwen2_5_vl", lora=ADAPTERS), tmp_path / "export")


def test_it_must_fit_the_policy(tmp_path: Path) -> None:
    export_policy(tiny_policy("gemma3", lora=ADAPTERS), tmp_path / "export")
    with pytest.raises(CorruptModel, match="another size or rank"):
        load_exported(tiny_policy("gemma3", lora=LoraSettings(rank=2)), tmp_path / "export")
    with pytest.raises(CorruptModel, match="another choice of adapters"):
        load_exported(tiny_policy("gemma3"), tmp_path / "export")
    wide = tiny_policy("gemma3", lora=ADAPTERS, critic=CriticSettings(heads=3))
    before = wide.weights()
    with pytest.raises(CorruptModel, match="does not fit this policy"):
        load_exported(wide, tmp_path / "export")
    assert all(torch.equal(each, before[name]) for name, each in wide.weights().items())


@pytest.mark.parametrize("file", ["critic.safetensors", "adapter_model.safetensors"])
def test_damage_is_noticed(file: str, tmp_path: Path) -> None:
    policy = tiny_policy("internvl", lora=ADAPTERS)
    export_policy(policy, tmp_path / "export")
    whole = (tmp_path / "export" / file).read_bytes()
    flipped = whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:]
    for damaged in (whole[:-100], flipped, b"{}", b""):
        (tmp_path / "export" / file).write_bytes(damaged)
        with pytest.raises(CorruptModel, match=f"{file} is gone or not as it was written"):
            load_exported(policy, tmp_path / "export")
    (tmp_path / "export" / file).unlink()
    with pytest.raises(CorruptModel, match="gone"):
        load_exported(policy, tmp_path / "export")


def test_a_manifest_that_is_none_is_refused(tmp_path: Path) -> None:
    policy = tiny_policy("internvl", lora=ADAPTERS)
    export_policy(policy, tmp_path / "export")
    manifest = tmp_path / "export" / "policy.json"
    good = manifest.read_text("utf-8")
    assert read_manifest(tmp_path / "export").weight_version == 0
    change_json(manifest, past_actions=7)
    with pytest.raises(CorruptModel, match="its checksum does not match"):
        read_manifest(tmp_path / "export")
    change_json(manifest, format_version=99, checksum=None)
    with pytest.raises(CorruptModel, match="version 99, this reads 1"):
        read_manifest(tmp_path / "export")
    swapped = (good.replace('"rank"', '"size"'), good.replace('"adapters"', '"code"'))
    for bad in ("", "[]", "{}", *swapped, json.dumps({"format": 1})):
        manifest.write_text(bad, encoding="utf-8")
        with pytest.raises(CorruptModel, match=r"policy\.json cannot be read"):
            read_manifest(tmp_path / "export")
    with pytest.raises(CorruptModel, match=r"policy\.json cannot be read"):
        load_exported(policy, tmp_path / "nowhere")


def test_an_export_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    policy = tiny_policy("internvl", lora=ADAPTERS)
    export_policy(policy, tmp_path / "runs" / "export")
    with pytest.raises(UsageError, match="is there already"):
        export_policy(policy, tmp_path / "runs" / "export")
    (tmp_path / "runs" / "file").write_text("")
    assert sorted(each.name for each in (tmp_path / "runs").iterdir()) == ["export", "file"]
