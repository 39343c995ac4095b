"""Behaviour cloning of a language model: it learns what is shown, and only what it may change."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch
from tests.agent.tiny_models import tiny_model

from distrl.agent.loading import load_policy, open_policy
from distrl.agent.lora import LoraSettings
from distrl.agent.policy_weights import export_policy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import InvalidSetting
from distrl.imitation.cloning import Cloning, CloningSettings, Demonstrations, clone, demonstrated
from distrl.imitation.sample_stream import SampleRecipe
from distrl.processor import bf16_obstacle
from phonesim.tasks.task_sets import template_names

SMALL = CloningSettings(
    steps=2,
    batch=4,
    micro_batch=3,
    learning_rate=3e-3,
    warm_up=1,
    pool=16,
    processes=0,
    validation_set=4,
    validate_every=1,
    templates=("clock.delete_alarm",),
)


def test_demonstrations_are_prompts_with_answers_that_mean_something() -> None:
    policy = open_policy(tiny_model("llama"), VlmSettings())
    samples = demonstrated("test", 12, policy.prompter)
    assert all("On the screen:\n1 " in each.prompt.text for each in samples)
    assert any("Done so far:\ntap " in each.prompt.text for each in samples)
    assert {each.answer.split()[0].rstrip(":") for each in samples} >= {"open", "tap"}
    recipe = SampleRecipe(tuple(template_names("train")), elements=True, slip_rate=0.3, seed=3)
    for each in islice(Demonstrations(recipe, policy.prompter), 20):
        number = each.answer.removeprefix("tap ")
        assert not number.isdigit() or f"\n{number} " in each.prompt.text


@pytest.mark.parametrize("lora", [None, LoraSettings(4, 8)], ids=["whole", "adapters"])
def test_a_few_steps_make_the_shown_answers_likelier(lora: LoraSettings | None) -> None:
    policy = open_policy(tiny_model("qwen2"), VlmSettings(lora=lora))
    samples = demonstrated("train", 4, policy.prompter)
    cloning = Cloning(policy, replace(SMALL, steps=8))
    before = {name: each.detach().clone() for name, each in policy.network.named_parameters()}
    losses = [cloning.step(samples, step) for step in range(1, 7)]
    assert losses[-1] < (0.7 if lora is None else 0.97) * losses[0]
    changed = {n for n, each in policy.network.named_parameters() if not each.equal(before[n])}
    assert changed
    assert all(("lora_" in name) is (lora is not None) for name in changed)


def test_parts_of_a_batch_add_up_to_the_batch() -> None:
    policy = open_policy(tiny_model("llama"), VlmSettings())
    samples = demonstrated("train", 5, policy.prompter)
    gradients = []
    for size in (5, 2):
        cloning = Cloning(policy, replace(SMALL, micro_batch=size, learning_rate=0.0))
        cloning.step(samples, 2)
        found = (each.grad for each in policy.policy_parameters())
        gradients.append([each.clone() for each in found if each is not None])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)


@pytest.mark.skipif(bool(bf16_obstacle()), reason=bf16_obstacle())
def test_bf16_gives_nearly_the_same_loss_on_a_cpu() -> None:
    policy = open_policy(tiny_model("llama"), VlmSettings())
    samples = demonstrated("train", 5, policy.prompter)
    losses = []
    for precision in ("full", "bf16"):
        settings = replace(SMALL, precision=precision, learning_rate=0.0)
        losses.append(Cloning(policy, settings).step(samples, 2))
    assert losses[0] != losses[1]  # it was computed in bf16
    torch.testing.assert_close(losses[0], losses[1], rtol=0.01, atol=0.0)


@pytest.mark.skipif(not bf16_obstacle(), reason="this processor computes in bf16")
def test_bf16_is_refused_on_a_cpu_without_it() -> None:
    with pytest.raises(InvalidSetting, match="on the CPU"):
        Cloning(open_policy(tiny_model("llama"), VlmSettings()), replace(SMALL, precision="bf16"))


def test_what_was_taught_is_a_model(tmp_path: Path) -> None:
    policy = open_policy(tiny_model("llama"), VlmSettings())
    curve = clone(policy, SMALL)
    assert [point.step for point in curve] == [1, 2]
    assert all(point.validation is not None and point.tokens > 0 for point in curve)
    export_policy(policy, tmp_path / "taught")
    again = load_policy(tmp_path / "taught")
    assert torch.equal(
        next(iter(again.policy_parameters())), next(iter(policy.policy_parameters()))
    )


def test_it_ends_by_the_clock_with_the_learning_rate_at_its_end() -> None:
    policy = open_policy(tiny_model("llama"), VlmSettings())
    rates = []
    settings = replace(SMALL, steps=10**6, minutes=0.02, validate_every=10**6)
    curve = clone(policy, settings, lambda point: rates.append(point.step))
    assert curve[-1].step == rates[-1] < 10**6
    assert curve[-1].validation is not None
    assert curve[-1].seconds >= 1.2
    assert 0.0 <= curve[-1].waited <= curve[-1].seconds
    ended = Cloning(policy, replace(settings, steps=5))
    assert ended._learning_rate(5) == pytest.approx(0.01 * SMALL.learning_rate)


def test_a_model_that_was_taught_as_a_whole_gets_new_adapters(tmp_path: Path) -> None:
    """As `distrl train` asks for them; they lie beside the taught model, which stays as it is."""
    policy = open_policy(tiny_model("llama"), VlmSettings())
    clone(policy, SMALL)
    export_policy(policy, tmp_path / "taught")
    adapted = open_policy(tmp_path / "taught", VlmSettings(lora=LoraSettings(2, 4)))
    samples = demonstrated("train", 4, adapted.prompter)
    prompts = [each.prompt for each in samples]
    answers = [adapted.builder.answers.encode(each.answer) for each in samples]
    with torch.no_grad():
        begun = adapted.score_prompts(prompts, answers).log_probs
        torch.testing.assert_close(begun, policy.score_prompts(prompts, answers).log_probs)
    cloning = Cloning(adapted, replace(SMALL, steps=8))
    for step in range(1, 4):
        cloning.step(samples, step)
    assert {name.split(".")[0] for name in adapted.weights()} == {"policy", "critic"}
    assert all("lora_" in name or name.startswith("critic") for name in adapted.weights())
    export_policy(adapted, tmp_path / "adapters")
    again = open_policy(tmp_path / "adapters", VlmSettings())
    with torch.no_grad():
        moved = adapted.score_prompts(prompts, answers).log_probs
        assert torch.equal(again.score_prompts(prompts, answers).log_probs, moved)
    assert not torch.allclose(moved, begun)
