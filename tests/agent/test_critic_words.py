"""A critic that reads the words of instructions: off by default to the bit, and on for every value
that a policy gives, whatever stands beside a turn in its batch.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.agent.test_vlm_policy_training import made_up_batch
from tests.agent.vlm_policies import observations, tiny_policy
from torch import Tensor, nn

from distrl.agent.critic import Critic, CriticSettings, bag_of_words
from distrl.agent.loading import open_policy
from distrl.agent.policy_weights import export_policy, load_exported
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import CorruptModel, UsageError
from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.gradient_step import GradientStep, StepSettings

SLOTS = 32
READS = CriticSettings(width=8, instruction_words=SLOTS)
INSTRUCTIONS = ["Open the clock", "Delete the note called Milk"]
ANSWERS = [(30, 41, 52), (63, 74), (85, 96, 107)]


def with_opinions(critic: Critic) -> Critic:
    noise = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in critic.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=noise), alpha=0.3)
    return critic


def reading_policy(family: str = "smolvlm") -> VlmPolicy:
    policy = tiny_policy(family, critic=READS)
    with_opinions(policy.critic)
    return policy


def all_values(policy: VlmPolicy) -> dict[str, Tensor]:
    with torch.no_grad():
        return {
            "scored": policy.score(observations(), ANSWERS).value_logits,
            "asked": policy.value_logits(observations()),
            "instructions": policy.instruction_logits([o.instruction for o in observations()]),
        }


def test_words_count_without_their_stops() -> None:
    one, other = bag_of_words("Buy milk, please.", 512), bag_of_words("please buy MILK", 512)
    np.testing.assert_array_equal(one, other)
    assert one.sum() == pytest.approx(3.0)


def test_a_word_has_the_same_slot_everywhere() -> None:
    assert np.flatnonzero(bag_of_words("clock", 512)).tolist() == [146]  # CRC-32 0xbe7bbe92


def test_without_it_weights_and_values_are_those_of_plain_heads_to_the_bit() -> None:
    states = torch.randn(5, 12, generator=torch.Generator().manual_seed(2))
    critic = Critic(12, CriticSettings(width=16), seed=7)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        plain = nn.ModuleDict(
            {"heads": nn.ModuleList([plain_head(), plain_head()]), "instruction": plain_head()}
        )
    wanted, found = plain.state_dict(), critic.state_dict()
    assert list(found) == list(wanted)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    values = torch.cat([head(states) for head in plain["heads"].children()], dim=-1)
    assert torch.equal(critic.values(states), values)
    assert critic.bags_of_words(INSTRUCTIONS) is None


def plain_head() -> nn.Sequential:
    last = nn.Linear(16, 1)
    nn.init.normal_(last.weight, std=0.01)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 16), nn.GELU(), last)


def test_with_it_the_first_values_are_those_without() -> None:
    states = torch.randn(2, 12, generator=torch.Generator().manual_seed(2))
    reads, does_not = (Critic(12, each) for each in (READS, CriticSettings(width=8)))
    words = reads.bags_of_words(INSTRUCTIONS)
    assert torch.equal(reads.values(states, words), does_not.values(states))


def test_instructions_tell_equal_states_apart() -> None:
    critic = with_opinions(Critic(12, READS))
    same = torch.ones(2, 12) * torch.arange(12)
    words = critic.bags_of_words(INSTRUCTIONS)
    for values in (critic.values(same, words), critic.instruction_values(same, words)):
        assert float((values[0] - values[1]).detach().abs().min()) > 1e-3


def test_an_instruction_is_the_same_however_often_it_is_said() -> None:
    critic = with_opinions(Critic(12, READS))
    words = critic.bags_of_words(["Open the clock", "Open the clock, open the clock!", ""])
    values = critic.values(torch.ones(3, 12), words).detach()
    torch.testing.assert_close(values[0], values[1])
    assert bool(values[2].isfinite().all())  # no words have no direction


def test_a_critic_that_reads_words_is_not_asked_without() -> None:
    with pytest.raises(UsageError, match="32 slots for the words of instructions was given none"):
        Critic(12, READS).values(torch.ones(1, 12))


@pytest.mark.parametrize("family", ["smolvlm", "auto_ui"])
def test_every_value_of_a_policy_depends_on_the_words(family: str) -> None:
    policy = reading_policy(family)
    before = all_values(policy)
    with torch.no_grad():
        for name, parameter in policy.critic.named_parameters():
            if name.endswith("words"):
                parameter.neg_()
    for name, values in all_values(policy).items():
        assert float((values - before[name]).abs().min()) > 1e-4, name


@pytest.mark.parametrize("family", ["smolvlm", "auto_ui"])
def test_neither_padding_nor_order_changes_a_value(family: str) -> None:
    policy, seen, order = reading_policy(family), observations(), [2, 0, 1]
    with torch.no_grad():
        together = policy.value_logits(seen)
        alone = torch.cat([policy.value_logits([each]) for each in seen])
        shuffled = policy.score([seen[at] for at in order], [ANSWERS[at] for at in order])
    torch.testing.assert_close(alone, together, atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(shuffled.value_logits, together[order], atol=1e-4, rtol=1e-3)


def test_the_learners_step_moves_the_slots_of_the_stored_instruction_alone() -> None:
    policy = tiny_policy("smolvlm", critic=READS)
    batch = made_up_batch(policy)
    ARide(GradientStep(policy, StepSettings(learning_rate=0.01))).update(batch)
    said = np.flatnonzero(bag_of_words(batch.trajectories[0].task.instruction, SLOTS)).tolist()
    for head in range(2):
        moved = policy.weights()[f"critic.heads.{head}.words"].any(0)
        assert moved.nonzero().flatten().tolist() == said


def test_the_instructions_own_head_learns_its_words() -> None:
    policy = tiny_policy("smolvlm", critic=READS)
    torch.autograd.backward(policy.instruction_logits(INSTRUCTIONS).sum())
    weights = policy.critic.instruction.words
    assert weights is not None
    assert weights.grad is not None
    assert bool(weights.grad.any())


def test_what_is_exported_comes_back_with_its_words(tmp_path: Path) -> None:
    policy = reading_policy()
    export_policy(policy, tmp_path / "export")
    fresh = tiny_policy("smolvlm", critic=READS, seed=5)
    load_exported(fresh, tmp_path / "export")
    opened = open_policy(
        tmp_path / "export",
        VlmSettings(past_screens=1, sampling=policy.sampling),
        dialect="compact",
    )
    assert opened.critic.settings == READS
    for again in (fresh, opened):
        for name, values in all_values(policy).items():
            assert torch.equal(all_values(again)[name], values)


@pytest.mark.parametrize("slots", [0, 2 * SLOTS])
def test_it_does_not_go_onto_a_critic_of_other_slots(slots: int, tmp_path: Path) -> None:
    export_policy(reading_policy(), tmp_path / "export")
    other = dataclasses.replace(READS, instruction_words=slots)
    with pytest.raises(CorruptModel, match="does not fit this policy"):
        load_exported(tiny_policy("smolvlm", critic=other), tmp_path / "export")
