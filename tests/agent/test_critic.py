"""The value heads: near one half at first, each its own, and cut off from the trunk by default."""

from __future__ import annotations

import pytest
import torch

from distrl.agent.critic import Critic, CriticSettings
from distrl.errors import InvalidSetting

NOISE = torch.Generator().manual_seed(2)
STATES = torch.randn(5, 12, generator=NOISE)


def test_values_start_near_one_half_and_heads_differ() -> None:
    critic = Critic(12, CriticSettings(heads=3, width=16))
    values = critic.values(STATES)
    assert values.shape == (5, 3)
    assert float((values.detach().sigmoid() - 0.5).abs().max()) < 0.1
    assert len({tuple(head.tolist()) for head in values.detach().T}) == 3
    assert critic.instruction_values(STATES).shape == (5,)


def test_a_seed_makes_the_heads_and_leaves_other_chance_alone() -> None:
    before = torch.get_rng_state()
    one, same, other = (Critic(12, CriticSettings(), seed).values(STATES) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize("trains_trunk", [False, True])
def test_gradients_reach_the_trunk_only_where_told(trains_trunk: bool) -> None:
    critic = Critic(12, CriticSettings(trains_trunk=trains_trunk))
    states = STATES.clone().requires_grad_()
    torch.autograd.backward(critic.values(states).sum() + critic.instruction_values(states).sum())
    assert (states.grad is not None) is trains_trunk
    assert all(parameter.grad is not None for parameter in critic.parameters())


def test_values_are_float32_whatever_the_trunk_computes_in() -> None:
    critic = Critic(12, CriticSettings())
    assert critic.values(STATES.to(torch.bfloat16)).dtype == torch.float32
    with torch.autocast("cpu", dtype=torch.float16):
        torch.testing.assert_close(critic.values(STATES), critic.values(STATES.double()))


def test_it_learns_to_tell_states_apart() -> None:
    critic = Critic(12, CriticSettings(width=16))
    optimiser = torch.optim.Adam(critic.parameters(), lr=0.02)
    outcomes = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0]).unsqueeze(1).expand(5, 2)
    for _ in range(60):
        optimiser.zero_grad()
        values = critic.values(1000.0 * STATES)  # trunks differ in the size of their states
        loss = torch.nn.functional.binary_cross_entropy_with_logits(values, outcomes)
        torch.autograd.backward(loss)
        optimiser.step()
    assert float(loss.detach()) < 0.05


def test_there_is_no_critic_without_heads() -> None:
    with pytest.raises(InvalidSetting, match="heads=0; give a whole number, 1 to"):
        CriticSettings(heads=0)
    with pytest.raises(InvalidSetting, match="width=0; give a whole number, 1 to"):
        CriticSettings(width=0)
