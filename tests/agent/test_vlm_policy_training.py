"""Training a vision-language policy: what moves, what must not, and what comes back from disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch
from tests.agent.tiny_models import tiny_model
from tests.agent.vlm_policies import FAMILIES, SHARP, observations, tiny_policy
from tests.slow_params import mostly_slow
from torch import Tensor, nn

from distrl.agent.critic import CriticSettings
from distrl.agent.lora import LoraSettings
from distrl.agent.policy_weights import export_policy, load_exported
from distrl.agent.vlm_policy import VlmPolicy
from distrl.errors import InvalidSetting, UsageError
from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.batch import Batch, batch_of
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.records import Decision, Ending, Task, Trajectory, Verdict, Wait

ADAPTERS = LoraSettings(rank=4, alpha=8)
ANSWERS = [(30, 41, 52), (63, 74), (85, 96, 107)]


def gradients(parameters: list[nn.Parameter]) -> list[Tensor]:
    return [each.grad.clone() for each in parameters if each.grad is not None]


def all_still(parameters: list[nn.Parameter]) -> bool:
    return all(not bool(each.any()) for each in gradients(parameters))


@pytest.mark.parametrize("family", mostly_slow(FAMILIES, ("qwen3_vl", "auto_ui")))
def test_load_decide_train_export_reload_same_answers(family: str, tmp_path: Path) -> None:
    policy = tiny_policy(family, lora=ADAPTERS, sampling=dataclasses.replace(SHARP, greedy=True))
    before, start = policy.decide(observations()), policy.weights()
    frozen = {n: p.clone() for n, p in policy.network.named_parameters() if not p.requires_grad}
    optimiser = torch.optim.AdamW(list(policy.policy_parameters()), lr=0.02)
    losses = [imitated(policy, optimiser) for _ in range(5)]
    assert losses[-1] < losses[0] - 0.5
    assert all("lora_" in name for name in start if name.startswith("policy."))
    for name, parameter in policy.network.named_parameters():
        assert name not in frozen or torch.equal(frozen[name], parameter)
    policy.load_weights(policy.weights(), 7)
    export_policy(policy, tmp_path / "export")
    after = policy.decide(observations())
    assert [each.token_ids for each in after] != [each.token_ids for each in before]
    fresh = tiny_policy(family, lora=ADAPTERS, sampling=policy.sampling, seed=3)
    assert load_exported(fresh, tmp_path / "export") == 7
    assert fresh.decide(observations()) == after
    with torch.no_grad():
        values = (each.value_logits(observations()) for each in (fresh, policy))
        torch.testing.assert_close(*values, atol=0.0, rtol=0.0)


def imitated(policy: VlmPolicy, optimiser: torch.optim.Optimizer) -> float:
    optimiser.zero_grad()
    scores = policy.score(observations(), ANSWERS)
    loss = -scores.log_probs[scores.token_mask].mean()
    torch.autograd.backward(loss)
    optimiser.step()
    return float(loss.detach())


@pytest.mark.parametrize("family", ["qwen2_5_vl", "auto_ui"])
def test_values_do_not_move_the_trunk_unless_told_to(family: str) -> None:
    for trains_trunk in (False, True):
        policy = tiny_policy(family, critic=CriticSettings(width=8, trains_trunk=trains_trunk))
        trunk, heads = list(policy.policy_parameters()), list(policy.critic_parameters())
        values = policy.score(observations(), ANSWERS).value_logits.square().sum()
        judged = policy.value_logits(observations()).square().sum()
        judged = judged + policy.instruction_logits(["Open the clock"]).square().sum()
        torch.autograd.backward(values + judged)
        assert all_still(trunk) is not trains_trunk
        assert len(gradients(heads)) == len(heads)
        assert not all_still(heads)


@pytest.mark.parametrize("family", ["qwen3_vl", "auto_ui"])
def test_the_policys_loss_does_not_move_the_critic(family: str) -> None:
    policy = tiny_policy(family)
    scores = policy.score(observations(), ANSWERS)
    torch.autograd.backward(scores.log_probs.sum() + scores.entropies.sum())
    assert all_still(list(policy.critic_parameters()))
    assert not all_still(list(policy.policy_parameters()))


@pytest.mark.parametrize("lora", [None, ADAPTERS], ids=["whole", "adapters"])
@pytest.mark.parametrize("family", mostly_slow(FAMILIES, ("qwen3_vl", "auto_ui")))
def test_checkpointing_gives_the_same_gradients_for_less_memory(
    family: str, lora: LoraSettings | None
) -> None:
    found, kept = [], []
    for checkpointing in ("off", "on"):
        policy = tiny_policy(family, lora=lora, gradient_checkpointing=checkpointing)
        for name, parameter in policy.network.named_parameters():
            if "lora_B" in name:  # they start at 0, and their other halves without a gradient
                torch.nn.init.constant_(parameter, 0.1)
        decisions = policy.decide(observations())  # still with a cache, which checkpoints drop
        saved = Saved()
        with torch.autograd.graph.saved_tensors_hooks(saved.keep, saved.give):
            scores = policy.score(observations(), [each.token_ids for each in decisions])
        sampled = torch.tensor(decisions[0].log_probs)
        seen = scores.log_probs[0, : len(sampled)].detach()
        torch.testing.assert_close(seen, sampled, atol=1e-4, rtol=0)
        torch.autograd.backward(scores.log_probs.sum() + scores.entropies.sum())
        found.append(gradients(list(policy.policy_parameters())))
        kept.append(saved.numbers)
        assert not any(module.training for module in policy.network.modules())
    for plain, checkpointed in zip(*found, strict=True):
        torch.testing.assert_close(checkpointed, plain, atol=1e-5, rtol=1e-3)
    assert kept[1] < 0.7 * kept[0]


def test_auto_checkpoints_from_when_it_is_told_to_and_scores_the_same() -> None:
    policy = tiny_policy("qwen3_vl")
    saved, found = [Saved(), Saved()], []
    for each in saved:
        with torch.autograd.graph.saved_tensors_hooks(each.keep, each.give):
            found.append(policy.score(observations(), ANSWERS).log_probs.detach())
        assert policy.start_checkpointing() == (each is saved[0])
    torch.testing.assert_close(found[1], found[0], atol=1e-6, rtol=1e-6)
    assert saved[1].numbers < 0.7 * saved[0].numbers
    assert not tiny_policy("qwen3_vl", gradient_checkpointing="off").start_checkpointing()


class Saved:
    """Counts the numbers that autograd keeps for later."""

    def __init__(self) -> None:
        self.numbers = 0

    def keep(self, tensor: Tensor) -> Tensor:
        self.numbers += tensor.numel()
        return tensor

    def give(self, tensor: Tensor) -> Tensor:
        return tensor


def test_the_learners_own_step_moves_a_vision_language_policy() -> None:
    policy = tiny_policy("smolvlm", lora=ADAPTERS)
    batch = made_up_batch(policy)
    step = GradientStep(policy, StepSettings(micro_batch_turns=2, learning_rate=0.01))
    before = policy.weights()
    report = ARide(step).update(batch)
    after = policy.weights()
    still = {name for name in before if torch.equal(before[name], after[name])}
    idle = ("critic.instruction", "lora_A")  # A-RIDE asks for none; A moves once B is not 0
    assert all(any(part in name for part in idle) for name in still)
    assert float((report.ratios[batch.mask] - 1.0).abs().max()) < 1e-3  # on policy


def made_up_batch(policy: VlmPolicy) -> Batch:
    """Two trajectories of this policy's own decisions, one of which is called a success."""
    task = Task("t/train/0", "Open the clock", "general", "t", "train", 0, (), "easy", 5)
    trajectories = []
    for number, ending in enumerate((Ending.SUCCESS, Ending.STEP_LIMIT)):
        screens = [each.screen for each in observations()]
        decisions: list[Decision] = []
        for step in range(2):
            silent = tuple(Wait() for _ in decisions)
            seen = dataclasses.replace(
                observations()[0],
                instruction=task.instruction,
                screen=screens[step],
                past_actions=silent,
                past_screens=tuple(screens[:step]),
            )
            [decision] = policy.decide([seen])
            decisions.append(dataclasses.replace(decision, action=Wait()))
        verdict = Verdict(ending is Ending.SUCCESS, "made up", "test")
        trajectories.append(
            Trajectory(
                str(number),
                task,
                tuple(decisions),
                tuple(screens),
                ending,
                verdict,
                device_seconds=0,
            )
        )
    return batch_of(trajectories)


def test_weights_are_copies_that_fit_only_their_like() -> None:
    policy = tiny_policy("qwen2_vl", lora=ADAPTERS)
    kept = policy.weights()
    name = next(name for name in kept if name.endswith("lora_B.default.weight"))
    kept[name] += 1.0
    assert not torch.equal(kept[name], policy.weights()[name])
    policy.load_weights(kept, 3)
    assert torch.equal(kept[name], policy.weights()[name])
    assert policy.weight_version == 3
    with pytest.raises(UsageError, match="another choice of adapters"):
        tiny_policy("qwen2_vl").load_weights(kept, 4)
    with pytest.raises(UsageError, match="another size or rank"):
        tiny_policy("qwen2_vl", lora=LoraSettings(rank=2)).load_weights(kept, 4)


def test_adapters_start_as_no_change_from_a_seed() -> None:
    plain, one, same, other = (
        tiny_policy("gemma3", **settings)
        for settings in (
            {},
            {"lora": ADAPTERS},
            {"lora": ADAPTERS},
            {"lora": ADAPTERS, "seed": 1},
        )
    )
    with torch.no_grad():
        wanted, found = (each.score(observations(), ANSWERS).log_probs for each in (plain, one))
    torch.testing.assert_close(found, wanted)
    first, second, third = (each.weights() for each in (one, same, other))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not all(torch.equal(first[name], third[name]) for name in first)


def test_adapters_go_where_they_are_told() -> None:
    told = LoraSettings(rank=2, targets=r".*language_model.*\.down_proj")
    names = [name for name in tiny_policy("internvl", lora=told).weights() if "lora" in name]
    assert names
    assert all("down_proj" in name and "vision" not in name for name in names)
    usual = tiny_policy("internvl", lora=ADAPTERS).weights()
    assert not any("vision" in name for name in usual)
    with pytest.raises(InvalidSetting, match=r"matches none of the .* linear layers"):
        tiny_policy("internvl", lora=LoraSettings(targets="q_proj"))
    with pytest.raises(InvalidSetting, match="no regular expression"):
        LoraSettings(targets="(q_proj")
    with pytest.raises(InvalidSetting, match="rank=0; give a whole number, 1 to"):
        LoraSettings(rank=0)


def test_the_model_files_are_left_alone(tmp_path: Path) -> None:
    """A policy that trains on an opened model changes nothing on disk."""
    weights = tiny_model("idefics3") / "model.safetensors"
    before = weights.read_bytes()
    policy = tiny_policy("idefics3")
    imitated(policy, torch.optim.SGD(list(policy.policy_parameters()), lr=0.1))
    assert weights.read_bytes() == before
