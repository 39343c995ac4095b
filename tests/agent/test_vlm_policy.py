"""One policy for every family: what is sampled is what is scored, alone or in a batch."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from tests.agent.vlm_policies import (
    DECODERS,
    FAMILIES,
    SHARP,
    forced_log_probs,
    observations,
    screen,
    tiny_policy,
)

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.policy_builder import set_weight_type
from distrl.agent.prompt import Prompt
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import InvalidSetting, UsageError
from distrl.records import Observation, Unreadable

ANSWERS: list[tuple[int, ...]] = [(30, 41, 52, 63), (74,), (85, 96, 107)]


@pytest.mark.parametrize("temperature", [0.3, 1.7])
@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_sampling_and_training_agree(family: str, temperature: float) -> None:
    sampling = dataclasses.replace(SHARP, temperature=temperature)
    policy = tiny_policy(family, sampling=sampling)
    decisions = policy.decide(observations())
    scores = policy.score(observations(), [each.token_ids for each in decisions])
    for row, decision in enumerate(decisions):
        length = len(decision.token_ids)
        assert scores.token_mask[row].tolist() == [
            place < length for place in range(scores.token_mask.shape[1])
        ]
        sampled = torch.tensor(decision.log_probs)
        torch.testing.assert_close(scores.log_probs[row, :length], sampled, atol=1e-4, rtol=0)
    assert -6.0 < float(scores.log_probs[scores.token_mask].mean()) < -0.1  # not certain, not flat


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_scores_are_those_of_the_models_own_forward(family: str) -> None:
    policy = tiny_policy(family)
    scores = policy.score(observations(), ANSWERS)
    for row, (observation, answer) in enumerate(zip(observations(), ANSWERS, strict=True)):
        logits = plain_forward(policy, observation, answer) / SHARP.temperature
        distribution = torch.log_softmax(logits, dim=-1)
        wanted = distribution.gather(-1, torch.tensor(answer).unsqueeze(-1)).squeeze(-1)
        entropies = -(distribution.exp() * distribution).sum(-1)
        found = slice(0, len(answer))
        torch.testing.assert_close(scores.log_probs[row, found], wanted, atol=1e-4, rtol=0)
        torch.testing.assert_close(scores.entropies[row, found], entropies, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def plain_forward(
    policy: VlmPolicy, observation: Observation, answer: tuple[int, ...]
) -> torch.Tensor:
    """Logits before each token of the answer, as Hugging Face has them for one unpadded row."""
    inputs = dict(policy.builder.build([policy.prompter.write(observation)]).tensors)
    said = torch.tensor([answer])
    logits: torch.Tensor
    if policy.network.config.is_encoder_decoder:
        start = torch.full((1, 1), policy.network.config.decoder_start_token_id)
        before = torch.cat([start, said[:, :-1]], dim=1)
        logits = policy.network(**inputs, decoder_input_ids=before).logits[0]
        return logits
    for name in ("mm_token_type_ids", "token_type_ids"):
        if name in inputs:
            inputs[name] = torch.cat([inputs[name], torch.zeros_like(said)], dim=1)
    inputs["attention_mask"] = torch.cat([inputs["attention_mask"], torch.ones_like(said)], dim=1)
    inputs["input_ids"] = torch.cat([inputs["input_ids"], said], dim=1)
    logits = policy.network(**inputs).logits[0, -len(answer) - 1 : -1]
    return logits


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_a_batch_is_the_same_as_one_by_one(family: str) -> None:
    policy = tiny_policy(family, sampling=dataclasses.replace(SHARP, greedy=True))
    together = policy.score(observations(), ANSWERS)
    decided = policy.decide(observations())
    for row, (observation, answer) in enumerate(zip(observations(), ANSWERS, strict=True)):
        alone = policy.score([observation], [answer])
        found = slice(0, len(answer))
        for name in ("log_probs", "entropies"):
            torch.testing.assert_close(
                getattr(together, name)[row, found], getattr(alone, name)[0], atol=1e-4, rtol=1e-4
            )
        torch.testing.assert_close(
            together.value_logits[row], alone.value_logits[0], atol=1e-5, rtol=1e-4
        )
        [decision] = policy.decide([observation])
        assert decision.token_ids == decided[row].token_ids


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_a_screen_has_the_same_value_whether_or_not_it_was_answered(family: str) -> None:
    policy = tiny_policy(family)
    scores = policy.score(observations(), ANSWERS)
    values = policy.value_logits(observations())
    torch.testing.assert_close(values, scores.value_logits, atol=1e-5, rtol=1e-4)
    assert values.shape == (3, 2)
    assert float((values[:, 0] - values[:, 1]).abs().min()) > 1e-4  # the heads are not one head
    assert float(values.std(0).min()) > 1e-3  # nor blind


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_screens_words_and_history_all_count(family: str) -> None:
    policy = tiny_policy(family)
    [seen] = observations()[2:]
    changes = (
        dataclasses.replace(seen, screen=screen(77, 180, 180)),
        dataclasses.replace(seen, past_screens=(screen(78),)),
        dataclasses.replace(seen, instruction="Home"),
        dataclasses.replace(seen, past_actions=()),
    )
    scores = policy.score([seen, *changes], [(30, 41)] * 5).log_probs
    assert float((scores[1:] - scores[0]).abs().amax(1).min()) > 1e-3


@pytest.mark.parametrize("family", DECODERS)
@torch.no_grad()
def test_a_model_may_say_the_token_that_stands_for_a_picture(family: str) -> None:
    """As an input it would be taken for a picture without pixels."""
    policy = tiny_policy(family)
    token = policy.network.config.image_token_id
    answers: list[tuple[int, ...]] = [
        (30, token, token, 52),
        (token, 41, 30, 62),
        (74, 85, token, token),
    ]
    scores = policy.score(observations(), answers)
    wanted = torch.tensor(forced_log_probs(policy, answers))
    torch.testing.assert_close(scores.log_probs, wanted, atol=1e-4, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_instructions_are_judged_alone_and_differently(family: str) -> None:
    policy = tiny_policy(family)
    words = ["Open the clock", "Find a red kettle in the shop and put it into the basket"]
    both = policy.instruction_logits(words)
    assert both.shape == (2,)
    alone = torch.cat([policy.instruction_logits([each]) for each in words])
    torch.testing.assert_close(both, alone, atol=1e-5, rtol=1e-4)
    assert float((both[0] - both[1]).abs()) > 1e-4


def test_draws_follow_a_seed() -> None:
    policy = tiny_policy("qwen2_5_vl", sampling=SamplingSettings(max_new_tokens=7))
    policy.seed(1)
    first = policy.decide(observations())
    second = policy.decide(observations())
    policy.seed(1)
    assert policy.decide(observations()) == first != second
    policy.seed("2")
    assert policy.decide(observations()) != first


@torch.no_grad()
def test_greedy_decisions_keep_the_log_probs_of_the_distribution() -> None:
    policy = tiny_policy("smolvlm", sampling=dataclasses.replace(SHARP, greedy=True))
    decisions = policy.decide(observations())
    assert decisions == policy.decide(observations())
    scores = policy.score(observations(), [each.token_ids for each in decisions])
    for row, decision in enumerate(decisions):
        sampled = torch.tensor(decision.log_probs)
        found = scores.log_probs[row, : len(sampled)]
        torch.testing.assert_close(found, sampled, atol=1e-4, rtol=0)
        assert float(sampled.max()) < 0.0


def test_decisions_hold_what_was_said() -> None:
    policy = tiny_policy("gemma3")
    policy.load_weights(policy.weights(), 12)
    for decision in policy.decide(observations()):
        assert decision.text == policy.builder.answers.decode(decision.token_ids)
        assert isinstance(decision.action, Unreadable)  # it babbles
        assert decision.weight_version == policy.weight_version == 12
    assert policy.decide([]) == []


@torch.no_grad()
def test_answers_without_tokens_have_values_all_the_same() -> None:
    policy = tiny_policy("internvl")
    scores = policy.score(observations(), [(), (), ()])
    assert scores.log_probs.shape == scores.entropies.shape == scores.token_mask.shape == (3, 0)
    torch.testing.assert_close(
        scores.value_logits, policy.value_logits(observations()), atol=1e-5, rtol=1e-4
    )


def test_tokens_are_counted_with_and_without_a_gradient() -> None:
    policy = tiny_policy("auto_ui")
    prompts = [policy.prompter.write(each) for each in observations()]
    asked = int(policy.builder.build(prompts).tensors["attention_mask"].sum())
    policy.score(observations(), ANSWERS)
    assert (policy.training_tokens, policy.forward_tokens) == (asked + 8, 0)
    with torch.no_grad():
        policy.score(observations(), ANSWERS)
    said = sum(len(decision.token_ids) for decision in policy.decide(observations()))
    policy.value_logits(observations())
    assert (policy.training_tokens, policy.forward_tokens) == (asked + 8, 3 * asked + 8 + said)
    assert policy.trainable_count == policy.parameter_count
    forward = 2.0 * policy.parameter_count * policy.forward_tokens
    assert policy.flops == forward + 6.0 * policy.parameter_count * policy.training_tokens


def test_what_makes_no_sense_is_refused() -> None:
    policy = tiny_policy("qwen3_vl")
    last = policy.architecture.vocabulary_size - 1
    policy.score(observations(), [(last,)] * 3)
    with pytest.raises(UsageError, match=f"token {last + 1}, this model's last is {last}"):
        policy.score(observations(), [(1,), (last + 1,), (2,)])
    with pytest.raises(UsageError, match="2 answers to 3 observations"):
        policy.score(observations(), [(1,), (2,)])
    with pytest.raises(InvalidSetting, match="end of the process"):
        VlmSettings(weights="bfloat16")
    with pytest.raises(InvalidSetting, match="past_screens=-1"):
        VlmSettings(past_screens=-1)
    for wrong in ({"temperature": 0.0}, {"temperature": float("nan")}, {"max_new_tokens": 0}):
        with pytest.raises(InvalidSetting, match="SamplingSettings"):
            SamplingSettings(**wrong)


def test_half_precision_leaves_positions_whole() -> None:
    network = tiny_policy("qwen2_5_vl").network
    before = {name: each.clone() for name, each in network.named_buffers()}
    set_weight_type(network, torch.bfloat16)
    assert {each.dtype for each in network.parameters()} == {torch.bfloat16}
    assert any("inv_freq" in name for name in before)
    for name, each in network.named_buffers():
        assert torch.equal(each, before[name])


def test_prompts_may_come_without_a_picture() -> None:
    """Instructions are judged like that."""
    for family in FAMILIES:
        builder = tiny_policy(family).builder
        assert "pixel_values" not in builder.build([Prompt("", "Open the clock", ())]).tensors
