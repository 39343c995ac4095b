"""Qwen-VL without padding gives what the padded reference gives, for less work."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from random import Random
from typing import Any

import pytest
import torch
from tests.agent.vlm_policies import SHARP, observations, screen, tiny_policy
from tests.slow_params import mostly_slow

from distrl.agent.architectures.decoder_only import DecoderOnly
from distrl.agent.architectures.packed_decoder import PackedDecoder
from distrl.agent.feature_cache import FeatureCache
from distrl.agent.lora import LoraSettings
from distrl.agent.vlm_policy import VlmPolicy
from distrl.errors import InvalidSetting, UsageError
from distrl.records import Back, Observation, Screen

QWEN = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl")
ANSWERS: list[tuple[int, ...]] = [(30, 41, 52, 63), (74,), (85, 96, 107)]


def padded_policy(family: str, **settings: Any) -> VlmPolicy:
    """The reference: prompts padded, transformers' own attention, pictures computed each time."""
    policy = tiny_policy(family, **settings)
    policy.network.set_attn_implementation("sdpa")
    policy.architecture = DecoderOnly(policy.network, policy.builder.answers.pad_token_id)
    policy._feature_source = None
    return policy


def many_pictures() -> list[Observation]:
    """Prompts with 2, 7 and 1 pictures, of different sizes."""
    past = tuple(screen(seed, 120 + 20 * seed, 140) for seed in range(6))
    return [
        Observation("Open the clock", screen(7), (Back(),), (screen(8, 180, 180),)),
        Observation("Add a note and more words than that", screen(9, 240, 120), (), past),
        Observation("Back", screen(10, 112, 200), ()),
    ]


@pytest.mark.parametrize("lora", [None, LoraSettings(rank=4)], ids=["whole", "lora"])
@pytest.mark.parametrize("family", mostly_slow(QWEN, quick=["qwen2_5_vl"]))
def test_same_scores_and_gradients_as_the_padded_reference(
    family: str, lora: LoraSettings | None
) -> None:
    gradients = []
    scored = []
    for policy in (tiny_policy(family, lora=lora), padded_policy(family, lora=lora)):
        moved_adapters(policy)
        scores = policy.score(observations(), ANSWERS)
        loss = scores.log_probs[scores.token_mask].sum() + scores.value_logits.sum()
        torch.autograd.backward(loss + scores.entropies[scores.token_mask].sum())
        scored.append(scores)
        gradients.append([each.grad for each in policy.policy_parameters()])
    assert isinstance(tiny_policy(family).architecture, PackedDecoder)
    for name in ("log_probs", "entropies"):
        found, wanted = (getattr(each, name)[each.token_mask] for each in scored)
        torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-5)
    norm = torch.stack([each.norm() for each in gradients[1] if each is not None]).norm()
    for found, wanted in zip(*gradients, strict=True):
        if wanted is None:
            assert found is None
        else:
            assert float((found - wanted).norm()) < 1e-5 * float(norm)


@pytest.mark.parametrize("family", mostly_slow(QWEN, quick=["qwen2_5_vl"]))
@torch.no_grad()
def test_two_seven_and_one_picture_are_the_same_together_as_alone(family: str) -> None:
    policy = tiny_policy(family, past_screens=6)
    together = policy.score(many_pictures(), ANSWERS)
    for row, (observation, answer) in enumerate(zip(many_pictures(), ANSWERS, strict=True)):
        fresh = tiny_policy(family, past_screens=6)
        alone = fresh.score([observation], [answer]).log_probs[0]
        found = together.log_probs[row, : len(answer)]
        torch.testing.assert_close(found, alone, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("family", mostly_slow(QWEN, quick=["qwen2_5_vl"]))
@torch.no_grad()
def test_decoding_goes_on_with_the_rows_that_are_kept(family: str) -> None:
    policy = tiny_policy(family)
    prompts = [policy.prompter.write(each) for each in observations()]
    inputs = policy.builder.build(prompts).tensors
    fewer = policy.architecture.begin(inputs, 7)
    fewer.step(torch.tensor([30, 31, 32]))
    fewer.keep(torch.tensor([2, 0]))
    fewer.step(torch.tensor([40, 41]))
    found = fewer.logits.clone()
    again = policy.architecture.begin(inputs, 7)
    again.step(torch.tensor([30, 31, 32]))
    again.step(torch.tensor([41, 77, 40]))
    torch.testing.assert_close(found, again.logits[[2, 0]])


def test_what_is_decoded_for_few_is_the_same_after_many() -> None:
    policy = tiny_policy("qwen2_5_vl", sampling=dataclasses.replace(SHARP, greedy=True))
    first = policy.decide(observations()[:1])
    policy.decide(observations())
    policy.sampling = dataclasses.replace(policy.sampling, max_new_tokens=40)
    policy.decide(observations())
    policy.sampling = dataclasses.replace(policy.sampling, max_new_tokens=SHARP.max_new_tokens)
    assert policy.decide(observations()[:1]) == first


# Features that are kept ---------------------------------------------------------------------------


def test_a_known_screen_is_not_looked_at_again() -> None:
    policy = tiny_policy("qwen2_5_vl", lora=LoraSettings(rank=4))
    wanted = policy.score(observations(), ANSWERS)
    computed = policy.features.computed
    found = policy.score(observations(), ANSWERS)
    assert policy.features.computed == computed
    torch.testing.assert_close(found.log_probs, wanted.log_probs, atol=0, rtol=0)
    policy.decide(observations())
    assert policy.features.computed == computed


def test_features_are_computed_beforehand_and_change_no_loss() -> None:
    """As a prefetching thread does it, while another batch is trained on."""
    plain, prepared = (tiny_policy("qwen2_5_vl", lora=LoraSettings(rank=4)) for _ in range(2))
    found, wanted = list[float](), list[float]()
    with ThreadPoolExecutor(1) as thread:
        for number in range(4):
            batch = [
                dataclasses.replace(each, screen=screen(20 + number)) for each in observations()
            ]
            ready = thread.submit(prepared.prepare, batch)
            prepared.score(observations(), ANSWERS)  # the step meanwhile
            ready.result(120.0)
            computed = prepared.features.computed
            found.append(trained(prepared, batch))
            assert prepared.features.computed == computed
            wanted.append(trained(plain, batch))
    assert found == pytest.approx(wanted, rel=1e-5)
    assert len(set(found)) == 4


def trained(policy: VlmPolicy, batch: list[Observation]) -> float:
    """The loss of a batch, on which the policy then learns."""
    optimizer = torch.optim.SGD(policy.policy_parameters(), lr=0.1)
    scores = policy.score(batch, ANSWERS)
    loss = -scores.log_probs[scores.token_mask].mean()
    torch.autograd.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    return float(loss.detach())


def test_no_more_features_are_computed_beforehand_than_are_kept_until_then() -> None:
    policy = tiny_policy("qwen2_5_vl", lora=LoraSettings(rank=4), cache_megabytes=0)
    policy.prepare(observations())
    assert policy.features.computed == 0
    cache = FeatureCache(max_bytes=40 * 4 * 8)
    seen = [screen(seed, height=40 + seed, width=30) for seed in range(70)]
    cache.add_missing(seen, heights)
    assert cache.computed == len(cache) == 40
    cache.of(seen[:40], heights)
    assert cache.computed == 40


def test_features_computed_beforehand_evict_none_that_a_step_needs_again() -> None:
    """Steps of two passes over 32 screens each, and the next 32 of 96 in between; room for 40."""
    cache = FeatureCache(max_bytes=40 * 4 * 8)
    seen = [screen(seed, height=40 + seed, width=30) for seed in range(96)]
    batches = [seen[first : first + 32] for first in (0, 32, 64)]
    computed = []
    for number in range(6):
        cache.of(batches[number % 3], heights)
        cache.add_missing(batches[(number + 1) % 3], heights)
        before = cache.computed
        cache.of(batches[number % 3], heights)
        computed.append(cache.computed)
        assert number == 0 or cache.computed == before  # nothing is known of the first batch
    assert [later - earlier for earlier, later in pairwise(computed[1:])] == [32] * 4


def heights(screens: Sequence[Screen]) -> list[torch.Tensor]:
    return [torch.full((1, 8), float(each.height)) for each in screens]


def test_threads_that_ask_at_once_get_their_own_features_within_the_bytes() -> None:
    cache = FeatureCache(max_bytes=10 * 4 * 8)
    seen = [screen(seed, height=40 + seed, width=30) for seed in range(25)]

    def ask(seed: int) -> None:
        rng = Random(seed)
        for _ in range(300):
            chosen = rng.sample(seen, 4)
            if rng.random() < 0.3:
                cache.add_missing(chosen, heights)
            features = cache.of(chosen, heights)
            assert features is not None
            assert features[:, 0].tolist() == [each.height for each in chosen]

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(ask, range(8)))
    assert cache.nbytes == sum(each.nbytes for each in cache._kept.values()) <= cache.max_bytes


def test_uncached_features_are_computed_anew_and_not_kept() -> None:
    policy = tiny_policy("qwen2_5_vl", lora=LoraSettings(rank=4))
    wanted = policy.score(observations(), ANSWERS).log_probs
    kept = policy.features
    counts = kept.found, kept.computed
    with policy.uncached():
        found = policy.score(observations(), ANSWERS).log_probs
        assert policy.features.computed == kept.computed
    assert policy.features is kept
    assert (kept.found, kept.computed) == counts
    torch.testing.assert_close(found, wanted, atol=0, rtol=0)


def test_a_vision_tower_that_learns_is_computed_each_time() -> None:
    policy = tiny_policy("qwen2_5_vl")
    scores = policy.score(observations(), ANSWERS)
    torch.autograd.backward(scores.log_probs[scores.token_mask].sum())
    network: Any = policy.network
    assert float(network.model.visual.blocks[0].attn.qkv.weight.grad.norm()) > 0.0
    assert policy.features.computed == 0


def test_kept_features_are_bounded_in_bytes() -> None:
    cache = FeatureCache(max_bytes=10 * 4 * 8)
    asked: list[int] = []

    def compute(screens: Any) -> list[torch.Tensor]:
        asked.extend(each.height for each in screens)
        return [torch.full((each.height % 5 + 1, 8), float(each.height)) for each in screens]

    seen = [screen(seed, height=40 + seed, width=30) for seed in range(6)]
    for _ in range(3):
        for each in seen:
            features = cache.of([each, each], compute)
            assert features is not None
            assert float(features.mean()) == each.height
            assert cache.nbytes <= cache.max_bytes
    assert len(cache) < len(seen)
    before = len(asked)
    cache.of([seen[-1]], compute)
    assert len(asked) == before  # the last one seen is still there


# Adapters -----------------------------------------------------------------------------------------


def moved_adapters(policy: VlmPolicy) -> None:
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in policy.network.named_parameters():
            if "lora_B" in name:
                parameter.copy_(torch.randn_like(parameter) * 0.1)


@pytest.mark.parametrize("family", ["qwen2_5_vl", "gemma3"])
@torch.no_grad()
def test_acting_uses_the_adapters_as_they_are_now(family: str) -> None:
    policy = tiny_policy(family, lora=LoraSettings(rank=4))
    before = policy.decide(observations())
    moved_adapters(policy)
    decided = policy.decide(observations())
    scores = policy.score(observations(), [each.token_ids for each in decided])
    for row, decision in enumerate(decided):
        sampled = torch.tensor(decision.log_probs)
        found = scores.log_probs[row, : len(sampled)]
        torch.testing.assert_close(found, sampled, atol=1e-4, rtol=0)
    assert [each.log_probs for each in before] != [each.log_probs for each in decided]


# What is refused ----------------------------------------------------------------------------------


def test_padded_rows_are_refused_by_packed_attention() -> None:
    policy = tiny_policy("qwen2_5_vl")
    inputs = policy.builder.build([policy.prompter.write(each) for each in observations()])
    with pytest.raises(UsageError, match="packed"):
        policy.network(**inputs.tensors)


def test_only_qwen_has_a_vision_tower_to_compile() -> None:
    with pytest.raises(InvalidSetting, match="compile_vision"):
        tiny_policy("gemma3", compile_vision=True)
