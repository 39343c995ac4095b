"""The policy that is a table: what it says, how likely, and what it keeps."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch
from benchmarks.tabular_policy import TabularPolicy

from distrl.agent.trainable_policy import TrainablePolicy
from distrl.errors import InvalidSetting, UsageError
from distrl.records import Action, Back, Done, Observation, Screen, Tap, Unreadable

ANSWERS: dict[tuple[int, ...], Action] = {(0,): Back(), (1, 0): Tap(0.5, 0.5), (2, 1): Done()}


def _policy(temperature: float = 1.0, seed: int = 0) -> TabularPolicy:
    policy = TabularPolicy(4, 3, ANSWERS, temperature=temperature, seed=seed)
    with torch.no_grad():
        noise = np.random.default_rng(5).normal(0.0, 1.0, policy.logits.shape)
        policy.logits.add_(torch.from_numpy(noise))
    return policy


def _seen(state: int, instruction: str = "Do it") -> Observation:
    return Observation(instruction, Screen(np.full((2, 2, 3), state, np.uint8)), ())


def test_it_is_a_trainable_policy() -> None:
    policy: TrainablePolicy = _policy()
    assert policy.weight_version == 0


def test_answers_end_where_they_can_be_read_and_their_probabilities_add_up() -> None:
    policy = _policy()
    assert policy.endings == ((0,), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2))
    assert policy.nodes == {(): 0, (1,): 1, (2,): 2}
    np.testing.assert_allclose(policy.answer_probabilities().sum(1), 1.0, atol=1e-6)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_decisions_come_as_often_as_they_should(temperature: float) -> None:
    policy = _policy(temperature)
    counts = Counter(decision.token_ids for decision in policy.decide([_seen(2)] * 20_000))
    expected = policy.answer_probabilities()[2] * 20_000
    found = np.array([counts[ending] for ending in policy.endings])
    assert ((found - expected) ** 2 / expected).sum() < 22.5  # χ² of 6 degrees: one in a thousand


def test_temperature_is_applied_to_what_is_drawn_recorded_and_scored() -> None:
    warm, cold = _policy(2.0), _policy(0.5)
    for policy in (warm, cold):
        seen = [_seen(1)] * 50
        decisions = policy.decide(seen)
        scores = policy.score(seen, [decision.token_ids for decision in decisions])
        for row, decision in enumerate(decisions):
            recorded = torch.tensor(decision.log_probs)
            torch.testing.assert_close(scores.log_probs[row, : len(recorded)].detach(), recorded)
            first = policy.logits[1, 0].detach() / policy.temperature
            by_hand = first[decision.token_ids[0]] - torch.logsumexp(first, 0)
            assert math.isclose(float(recorded[0]), float(by_hand), abs_tol=1e-6)


def test_entropies_are_those_of_the_distributions_that_tokens_were_drawn_from() -> None:
    policy = _policy(0.7)
    scores = policy.score([_seen(3)] * 2, [(2, 1), (0,)])
    for place, node in enumerate([(), (2,)]):
        p = (policy.logits[3, policy.nodes[node]].detach() / 0.7).softmax(-1)
        entropy = float(-(p * p.log()).sum())
        found = float(scores.entropies[0, place].detach())
        assert math.isclose(found, entropy, abs_tol=1e-6)
    assert scores.token_mask.tolist() == [[True, True], [True, False]]


def test_what_cannot_be_read_is_the_policys_own_doing() -> None:
    policy = _policy()
    for decision in policy.decide([_seen(0)] * 200):
        wanted = ANSWERS.get(decision.token_ids)
        assert isinstance(decision.action, Unreadable) if wanted is None else True
        assert wanted is None or decision.action == wanted


def test_the_same_seed_says_the_same_and_another_does_not() -> None:
    said = [[d.token_ids for d in _policy(seed=s).decide([_seen(0)] * 30)] for s in (1, 1, 2)]
    assert said[0] == said[1] != said[2]
    policy = _policy()
    policy.seed("again")
    first = policy.decide([_seen(0)] * 30)
    policy.seed("again")
    assert policy.decide([_seen(0)] * 30) == first


def test_an_optimiser_step_changes_what_is_said_at_once() -> None:
    policy = _policy()
    before = policy.answer_probabilities()
    optimiser = torch.optim.SGD(policy.policy_parameters(), lr=5.0)
    scores = policy.score([_seen(0)], [(2, 1)])
    torch.autograd.backward(-scores.log_probs.sum())
    optimiser.step()
    after = policy.answer_probabilities()
    assert after[0, policy.endings.index((2, 1))] > before[0, policy.endings.index((2, 1))] + 0.1
    np.testing.assert_array_equal(before[1:], after[1:])  # nobody asked about the others


def test_heads_differ_and_are_read_by_state_and_instruction() -> None:
    policy = _policy()
    logits = policy.value_logits([_seen(2), _seen(0)])
    torch.testing.assert_close(logits, policy.value_table[[2, 0]])
    assert not torch.equal(logits[:, 0], logits[:, 1])
    assert policy.instruction_logits(["Do it", "Do that", "Do it"]).shape == (3,)
    torch.autograd.backward(policy.instruction_logits(["Do it"]).sum())
    assert policy.instruction_table.grad is not None
    assert int((policy.instruction_table.grad != 0).sum()) == 1


def test_weights_travel_with_their_version_and_are_copies() -> None:
    demonstrator, pupil = _policy(), TabularPolicy(4, 3, ANSWERS)
    weights = demonstrator.weights()
    pupil.load_weights(weights, version=7)
    np.testing.assert_array_equal(pupil.answer_probabilities(), demonstrator.answer_probabilities())
    assert pupil.decide([_seen(0)])[0].weight_version == pupil.weight_version == 7
    demonstrator.prefer(0, (2, 1), 3.0)
    assert not np.array_equal(pupil.answer_probabilities(), demonstrator.answer_probabilities())
    torch.testing.assert_close(weights["logits"], pupil.logits.detach())


def test_weights_of_another_shape_are_refused_and_nothing_is_taken_over() -> None:
    with pytest.raises(UsageError, match="another world"):
        _policy().load_weights(TabularPolicy(5, 3, ANSWERS).weights(), 1)
    with pytest.raises(UsageError, match="wanted"):
        _policy().load_weights({"logits": torch.zeros(1)}, 1)


def test_nothing_to_score_is_no_trouble() -> None:
    scores = _policy().score([], [])
    assert scores.log_probs.shape == (0, 0)
    assert scores.value_logits.shape == (0, 2)
    silent = _policy().score([_seen(1)], [()])  # a scripted agent has no tokens
    assert silent.log_probs.shape == (1, 0)
    assert silent.value_logits.shape == (1, 2)


@pytest.mark.parametrize("tokens", [(0, 1), (1, 0, 0)])
def test_tokens_after_the_end_of_an_answer_are_refused(tokens: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="has ended"):
        _policy().score([_seen(0)], [tokens])


def test_states_beyond_the_table_are_refused() -> None:
    with pytest.raises(UsageError, match="state 4"):
        _policy().value_logits([_seen(4)])


@pytest.mark.parametrize(
    ("answers", "settings"),
    [
        ({(0,): Back(), (0, 1): Done()}, {}),  # the second begins with the first
        ({(0, 0, 0): Back()}, {}),
        ({(3,): Back()}, {}),
        (ANSWERS, {"temperature": 0.0}),
        (ANSWERS, {"heads": 0}),
        (ANSWERS, {"tokens_per_answer": 0}),
    ],
)
def test_tables_that_make_no_sense_are_refused(
    answers: dict[tuple[int, ...], Action], settings: dict[str, int]
) -> None:
    with pytest.raises(InvalidSetting):
        TabularPolicy(4, 3, answers, **settings)  # type: ignore[arg-type]
