"""Prompts that begin alike are decoded from what was read once, with the same result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.agent.test_language_policy import SEEN as TEXTS
from tests.agent.test_packed_decoder import many_pictures, moved_adapters
from tests.agent.tiny_models import tiny_model
from tests.agent.vlm_policies import SHARP
from tests.slow_params import mostly_slow
from torch import Tensor

from distrl.agent.architectures.architecture import DecodingState, PrefixStates, Tensors
from distrl.agent.architectures.decoder_only import DecoderOnly
from distrl.agent.architectures.packed_decoder import PackedDecoder
from distrl.agent.loading import open_policy
from distrl.agent.lora import LoraSettings
from distrl.agent.shared_prefix import MIN_TOKENS, SharedPrefix, common_tokens
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.episodes.policy_batcher import PolicyBatcher
from distrl.records import Observation

ALL = ("qwen2_5_vl", "qwen2_5_vl padded", "llama", "qwen2_vl", "qwen3_vl", "smolvlm", "internvl")
MODELS = mostly_slow(ALL, quick=ALL[:3])
TOKENS = torch.tensor([[30, 41, 52], [74, 85, 96], [107, 118, 129]])


def policy_of(model: str, **settings: Any) -> VlmPolicy:
    """With a dialect that has much to explain, where the model has none of its own."""
    name, _, padded = model.partition(" ")
    own = name.startswith("qwen") or name == "llama"
    chosen = VlmSettings(sampling=SHARP, past_screens=0 if name == "llama" else 6)
    dialect = None if own else "android_world"
    policy = open_policy(tiny_model(name), replace(chosen, **settings), dialect=dialect)
    if padded:
        policy.network.set_attn_implementation("sdpa")
        policy.architecture = DecoderOnly(policy.network, policy.builder.answers.pad_token_id)
        policy._feature_source = None
    return policy


def seen_by(policy: VlmPolicy) -> list[Observation]:
    """2, 7 and 1 pictures of different sizes, or texts of different lengths."""
    return TEXTS if policy.prompter.sees == "elements" else many_pictures()


def inputs_of(policy: VlmPolicy) -> dict[str, Tensor]:
    return policy.builder.build([policy.prompter.write(each) for each in seen_by(policy)]).tensors


@torch.no_grad()
def forced_logits(policy: VlmPolicy, *, shared: bool) -> list[Tensor]:
    """After each of some tokens; one of the three rows is dropped on the way."""
    policy.prefix.enabled = shared
    system = policy.prompter.dialect.instructions
    inputs = inputs_of(policy)
    decoding = policy.prefix.begin(policy.architecture, inputs, len(TOKENS) + 1, system)
    assert (policy.prefix.reused > len(TOKENS) * MIN_TOKENS) is shared
    found, rows = [decoding.logits], torch.arange(len(TOKENS))
    for place in range(TOKENS.shape[1]):
        if place == 1:
            rows = torch.tensor([0, 2])
            decoding.keep(rows)
        decoding.step(TOKENS[rows, place])
        found.append(decoding.logits)
    return found


@pytest.mark.parametrize("model", MODELS)
def test_the_same_log_probs_as_without(model: str) -> None:
    policy = policy_of(model)
    whole, shared = (forced_logits(policy, shared=each) for each in (False, True))
    for found, wanted in zip(shared, whole, strict=True):
        assert found.std() > 0.1
        torch.testing.assert_close(
            found.log_softmax(-1), wanted.log_softmax(-1), atol=1e-5, rtol=1e-5
        )


@pytest.mark.parametrize("model", MODELS)
def test_the_same_answers_and_what_is_scored_later(model: str) -> None:
    policy = policy_of(model)
    seen, decided = seen_by(policy), []
    for policy.prefix.enabled in (True, False):
        policy.seed(3)
        decided.append(policy.decide(seen))
        assert (policy.prefix.reused > 0) is policy.prefix.enabled
    with torch.no_grad():
        scores = policy.score(seen, [each.token_ids for each in decided[0]])
    for row, (shared, whole) in enumerate(zip(*decided, strict=True)):
        assert shared.token_ids == whole.token_ids
        assert shared.log_probs == pytest.approx(whole.log_probs, rel=1e-5, abs=1e-6)
        scored = scores.log_probs[row, : len(shared.token_ids)].tolist()
        assert shared.log_probs == pytest.approx(scored, rel=1e-4, abs=1e-5)


def test_tokens_after_the_prefix_keep_their_positions() -> None:
    policy = policy_of("qwen2_5_vl")
    packed = policy.architecture
    assert isinstance(packed, PackedDecoder)
    inputs = inputs_of(policy)
    policy.prefix.begin(packed, inputs, 1, policy.prompter.dialect.instructions)
    known = policy.prefix.reused // len(TOKENS)
    whole, rest = packed._packed(inputs), packed._packed(inputs, known=known)
    lengths = whole.begins.diff()
    assert torch.equal(rest.begins.diff(), lengths - known)
    assert torch.equal(rest.after, whole.after)
    for row, (begin, length) in enumerate(
        zip(whole.begins.tolist(), lengths.tolist(), strict=False)
    ):
        places = whole.positions[:, begin : begin + length]  # [3, length]
        assert torch.equal(places[:, :known], torch.arange(known).expand(3, -1))  # as it was read
        left = rest.positions[:, int(rest.begins[row]) : int(rest.begins[row + 1])]
        assert torch.equal(left, places[:, known:])
        assert (places[0, known:] != places[2, known:]).any()  # pictures have three axes


@pytest.mark.parametrize("lora", [None, LoraSettings(rank=4)], ids=["whole", "lora"])
def test_weights_that_move_are_read_anew(lora: LoraSettings | None) -> None:
    policy, other = (policy_of("qwen2_5_vl", lora=lora) for _ in range(2))
    seen = seen_by(policy)
    before = [policy.decide(seen), policy.decide(seen)]
    assert policy.prefix.reads == 1
    if lora is None:
        with torch.no_grad():
            for parameter in other.policy_parameters():
                parameter.mul_(1.02)
    else:
        moved_adapters(other)
    policy.load_weights(other.weights(), 1)
    found = []
    for policy.prefix.enabled in (True, False):
        policy.seed(5)
        found.append(policy.decide(seen))
    assert policy.prefix.reads == 2
    assert found[0][0].log_probs != before[0][0].log_probs
    for shared, whole in zip(*found, strict=True):
        assert shared.log_probs == pytest.approx(whole.log_probs, rel=1e-5, abs=1e-6)


def test_fewer_tokens_are_counted_where_they_are_not_read() -> None:
    policy, tokens = policy_of("qwen2_5_vl"), []
    policy.decide(seen_by(policy))
    for policy.prefix.enabled in (True, False):
        policy.seed(5)
        before = policy.forward_tokens
        policy.decide(seen_by(policy))
        tokens.append(policy.forward_tokens - before + policy.prefix.reused)
    assert tokens[0] == tokens[1]


@pytest.mark.parametrize("model", ["gemma3", "gpt2", "auto_ui"])
def test_models_with_windows_or_without_rotary_positions_read_everything(model: str) -> None:
    dialect = "elements" if model == "gpt2" else "android_world"
    policy = open_policy(tiny_model(model), VlmSettings(sampling=SHARP), dialect=dialect)
    assert policy.decide(seen_by(policy))
    assert (policy.prefix.reused, policy.prefix.reads) == (0, 0)


def test_only_what_all_prompts_begin_with_is_common_and_something_is_left() -> None:
    ids = torch.tensor([[9, 1, 2, 3, 4], [9, 9, 1, 2, 5], [1, 2, 3, 4, 5]])
    mask = torch.tensor([[0, 1, 1, 1, 1], [0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    inputs = {"input_ids": ids, "attention_mask": mask}
    assert common_tokens(inputs, torch.tensor([1, 2, 3, 4])) == 2
    assert common_tokens(inputs, torch.tensor([1])) == 1
    assert common_tokens(inputs, torch.tensor([7, 2])) == 0
    alone = {"input_ids": ids[2:], "attention_mask": mask[2:]}
    assert common_tokens(alone, ids[2]) == 4


Breaks = Callable[[PrefixStates], PrefixStates]
BROKEN: dict[str, Breaks] = {  # as a kernel that is wrong would have them
    "negated": lambda states: PrefixStates(-30.0 * states.keys, -30.0 * states.values),
    "one place off": lambda states: PrefixStates(states.keys.roll(1, dims=2), states.values),
}


@pytest.mark.parametrize("sure", [False, True])
@pytest.mark.parametrize("broken", [None, *BROKEN])
@torch.no_grad()
def test_where_kernels_are_unknown_a_first_batch_is_read_both_ways(
    broken: str | None,
    sure: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also for a policy whose answer is the same with wrong keys."""
    policy = policy_of("llama")
    inputs, system = inputs_of(policy), policy.prompter.dialect.instructions
    if sure:
        projected = DecoderOnly.project
        certain = torch.nn.functional.one_hot(torch.tensor(41), policy.architecture.vocabulary_size)
        monkeypatch.setattr(
            DecoderOnly, "project", lambda self, states: projected(self, states) + 25.0 * certain
        )
    whole = policy.architecture.begin(inputs, 2).logits
    assert (float(whole.softmax(-1).max()) > 0.99) is sure
    if broken is not None:
        read, breaks = DecoderOnly.read_prefix, BROKEN[broken]
        monkeypatch.setattr(DecoderOnly, "read_prefix", lambda *given: breaks(read(*given)))
    policy.prefix = SharedPrefix(policy.builder, compared_on=("cpu",))
    for _ in range(2):
        found = policy.prefix.begin(policy.architecture, inputs, 2, system).logits
        torch.testing.assert_close(found, whole, atol=1e-4, rtol=1e-4)
        assert policy.prefix.enabled is (broken is None)
        assert bool(policy.prefix.reused) is (broken is None)
    told = PolicyBatcher(policy).report().notice
    assert ("read again for every decision" in told) is (broken is not None)
    assert told in caplog.text


class WrongAfterwards(DecoderOnly):
    """Reads prompts from a prefix as it should, and goes on from other keys."""

    def begin(
        self, inputs: Tensors, max_new_tokens: int, prefix: PrefixStates | None = None
    ) -> DecodingState:
        decoding = super().begin(inputs, max_new_tokens, prefix)
        kept: Any = decoding
        if prefix is not None:
            for layer in kept._cache.layers:
                layer.keys = layer.keys.roll(1, dims=2)
        return decoding


@torch.no_grad()
def test_the_token_after_the_first_is_compared_as_well() -> None:
    policy = policy_of("llama")
    wrong = WrongAfterwards(policy.network, policy.builder.answers.pad_token_id)
    prefix = SharedPrefix(policy.builder, compared_on=("cpu",))
    prefix.begin(wrong, inputs_of(policy), 2, policy.prompter.dialect.instructions)
    assert not prefix.enabled
