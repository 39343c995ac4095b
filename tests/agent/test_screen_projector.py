"""Language models with a screen projector (`agent.sees = "both"`): screens reach their answers."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.agent.test_language_policy import ANSWERS, SEEN, SHARP
from tests.agent.tiny_models import tiny_model
from tests.agent.vlm_policies import screen
from tests.learning.test_learner_with_a_model import Published, episode

from distrl.agent.families.language_pictures import LanguagePictureInputs
from distrl.agent.loading import load_policy, open_policy, what_it_sees
from distrl.agent.lora import LoraSettings
from distrl.agent.policy_weights import export_policy, load_exported
from distrl.agent.prompt import Prompt
from distrl.agent.reference_policy import start_policy
from distrl.agent.simple_policies import blank_screens
from distrl.agent.starter.item_reader import ITEMS
from distrl.agent.vlm_policy import CRITIC, PROJECTOR, VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.errors import CorruptModel, UsageError
from distrl.imitation.cloning import Cloning, CloningSettings, PromptedAnswer
from distrl.learning.algorithms.a_ride import ARide
from distrl.learning.gradient_step import GradientStep, StepSettings
from distrl.learning.learner import Learner
from distrl.learning.learner_report import LearnerReport
from distrl.learning.learner_settings import LearnerSettings
from distrl.records import Observation, OpenApp, Screen
from distrl.replay.buffer.pacing import Pacing
from distrl.replay.buffer.replay_buffer import ReplayBuffer
from phonesim.simulated_device import SimulatedDevice

MODELS = ("llama", "qwen2", "gpt2")
ADAPTED = LoraSettings(4, 8)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@cache
def phone_screens() -> tuple[Screen, ...]:
    """The home screen, and two apps."""
    with SimulatedDevice("phone") as phone:
        phone.reset(0)
        return (phone.screen(), *(phone.perform(OpenApp(name)) for name in ("Clock", "Notes")))


def seen() -> list[Observation]:
    """Prompts of three lengths, elements on two of them."""
    return [replace(each, screen=s) for each, s in zip(SEEN, phone_screens(), strict=True)]


def policy_of(model: str = "llama", *, moved: bool = True, **settings: Any) -> VlmPolicy:
    """`moved`: with a projector that has learned something."""
    chosen = replace(VlmSettings(sampling=SHARP), **settings)
    policy = open_policy(tiny_model(model), chosen, sees="both")
    if moved:
        _move(policy)
    return policy


def _move(policy: VlmPolicy) -> None:
    assert policy.projector is not None
    rng = torch.Generator().manual_seed(5)
    with torch.no_grad():
        weight = policy.projector.down_proj.weight
        weight.add_(torch.randn(weight.shape, generator=rng))


def log_probs(policy: VlmPolicy, observations: list[Observation]) -> torch.Tensor:
    with torch.no_grad():
        return policy.score(observations, ANSWERS[: len(observations)]).log_probs


@pytest.mark.parametrize("lora", [None, ADAPTED], ids=["whole", "adapters"])
@pytest.mark.parametrize("model", MODELS)
@torch.no_grad()
def test_sampling_and_training_agree_in_a_padded_batch(
    model: str, lora: LoraSettings | None
) -> None:
    policy = policy_of(model, lora=lora if model != "gpt2" else None, past_screens=1)
    asked = [replace(each, past_screens=phone_screens()[:2]) for each in seen()]
    decisions = policy.decide(asked)
    scores = policy.score(asked, [each.token_ids for each in decisions])
    for row, decision in enumerate(decisions):
        sampled = torch.tensor(decision.log_probs)
        found = scores.log_probs[row, : len(sampled)]
        torch.testing.assert_close(found, sampled, atol=1e-4, rtol=0)


def test_a_batch_says_what_each_says_alone() -> None:
    policy = policy_of()
    together = log_probs(policy, seen())
    for row, each in enumerate(seen()):
        with torch.no_grad():
            alone = policy.score([each], ANSWERS[row : row + 1]).log_probs[0]
        torch.testing.assert_close(together[row, : len(alone)], alone, atol=1e-4, rtol=0)


def test_the_screen_reaches_what_it_says_once_something_was_learned() -> None:
    new, policy = policy_of(moved=False), policy_of()
    others = [replace(each, screen=screen(9, 720, 360)) for each in seen()]
    assert torch.equal(log_probs(new, seen()), log_probs(new, others))  # line breaks for any screen
    for other in (others, [replace(blank_screens(e), elements=e.elements) for e in seen()]):
        apart = (log_probs(policy, seen()) - log_probs(policy, other)).abs()
        assert float(apart[:, 0].min()) > 1e-3


@torch.no_grad()
def test_at_first_a_screen_is_a_run_of_line_breaks() -> None:
    policy = policy_of(moved=False)
    builder = policy.builder
    assert isinstance(builder, LanguagePictureInputs)
    [observation] = seen()[:1]
    ids = builder.build([policy.prompter.write(observation)]).tensors["input_ids"]
    places = ids == policy.architecture.vocabulary_size
    assert int(places.sum()) == ITEMS
    text = builder.chat.tokenizer.decode(ids[~places], skip_special_tokens=False)
    assert text.index("user") < text.index("Open the clock") < text.index("Save")
    first = int(places[0].nonzero()[0])
    assert "Open" not in builder.chat.tokenizer.decode(ids[0, :first])  # the picture comes before
    answer = ANSWERS[0]
    written = ids.masked_fill(places, builder.start_token_id)
    whole = torch.cat([written, torch.tensor([answer])], dim=1)
    logits = policy.network(input_ids=whole).logits[0, -len(answer) - 1 : -1] / 0.3
    wanted = logits.log_softmax(-1).gather(-1, torch.tensor(answer).unsqueeze(-1)).squeeze(-1)
    found = log_probs(policy, [observation])[0, : len(answer)]
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=0)


def test_pixels_or_what_is_known_of_them_come_to_the_same() -> None:
    policy = policy_of()
    prompts = [policy.prompter.write(each) for each in seen()]
    nothing = torch.zeros((len(prompts), 0), dtype=torch.long)
    with torch.no_grad():
        known = policy._forward(prompts, nothing).prompt_states
        pixels = policy.architecture.forward(policy.builder.build(prompts).tensors, nothing)
    assert torch.equal(pixels.prompt_states, known)
    assert (policy.features.computed, policy.features.found) == (3, 0)
    log_probs(policy, seen())
    assert (policy.features.computed, policy.features.found) == (3, 3)


@torch.no_grad()
def test_an_instruction_alone_has_no_picture() -> None:
    policy = policy_of()
    assert policy.instruction_logits(["Open the clock"]).shape == (1,)
    without = policy.builder.build([Prompt("", "Open the <|screen|> clock", ())]).tensors
    assert set(without) == {"input_ids", "attention_mask"}
    assert int((without["input_ids"] == policy.architecture.vocabulary_size).sum()) == 0


@pytest.mark.parametrize("lora", [None, ADAPTED], ids=["whole", "adapters"])
def test_a_gradient_reaches_the_projector_and_never_the_reader(lora: LoraSettings | None) -> None:
    policy = policy_of(lora=lora, gradient_checkpointing="on")
    scores = policy.score(seen(), ANSWERS)
    torch.autograd.backward(scores.log_probs[scores.token_mask].mean())
    assert policy.projector is not None
    for name, parameter in policy.projector.named_parameters():
        if name.startswith("reader."):
            assert not parameter.requires_grad
        else:
            assert parameter.grad is not None
            assert float(parameter.grad.abs().sum()) > 0, name
    trained = {id(each) for each in policy.policy_parameters()}
    learned = {n for n in policy.weights() if n.startswith(PROJECTOR)}
    assert {id(p) for p in (policy.projector.norm.weight, policy.projector.up_proj.bias)} <= trained
    assert not any("reader" in name for name in learned)
    assert not any(id(each) in trained for each in policy.critic_parameters())


def test_what_the_picture_alone_tells_is_learned() -> None:
    """Two screens, no elements, one instruction: without the picture ln 2 is the least."""
    policy = policy_of(moved=False)
    prompts = [
        policy.prompter.write(Observation("What now?", each, ())) for each in phone_screens()[:2]
    ]
    assert prompts[0].text == prompts[1].text
    samples = [
        PromptedAnswer(p, answer) for p, answer in zip(prompts, ("tap", "done"), strict=True)
    ]
    cloning = Cloning(policy, CloningSettings(steps=400, learning_rate=3e-3, warm_up=1))
    losses = [cloning.step(samples, step) for step in range(1, 33)]
    assert losses[0] > 2.0
    assert losses[-1] < 0.3  # nats for an answer


def learner_of(policy: VlmPolicy, publisher: Published) -> Learner:
    step = GradientStep(policy, StepSettings(micro_batch_turns=4, learning_rate=0.01))
    settings = LearnerSettings(
        batch_trajectories=2, refresh_trajectories=0, updates_per_publish=1, mode="offline"
    )
    return Learner(
        policy, ARide(step), step, ReplayBuffer(), Pacing(1.0), deque(), publisher, settings
    )


def test_the_learner_trains_publishes_and_resumes_it_bit_by_bit() -> None:
    policy, publisher = policy_of(moved=False, lora=ADAPTED), Published()
    made = [episode(policy, number, (720, 360)) for number in range(2)]
    learner = learner_of(policy, publisher)
    learner.preload(made)
    before = policy.weights()
    report = learner.step()
    assert isinstance(report, LearnerReport)
    assert report.ratio_quantiles == pytest.approx((1.0,) * 7, abs=1e-3)  # its own data
    [published] = publisher.weights.values()
    name = f"{PROJECTOR}down_proj.weight"
    assert not torch.equal(before[name], published[name])

    acting = policy_of(moved=False, lora=ADAPTED, seed=8)
    acting.load_weights(published, 1)
    assert acting.weight_digest() == policy.weight_digest()
    assert torch.equal(log_probs(acting, seen()), log_probs(policy, seen()))

    other = policy_of(moved=False, lora=ADAPTED, seed=9)
    resumed = learner_of(other, Published())
    stored = {each.id: each for each in made}
    assert resumed.load_state(copy.deepcopy(learner.state_dict()), stored.get) == ()
    learner.step()
    resumed.step()
    assert other.weight_digest() == policy.weight_digest()


@pytest.mark.parametrize("lora", [None, ADAPTED], ids=["whole", "adapters"])
def test_what_it_learned_is_exported_and_opened_as_it_was(
    lora: LoraSettings | None, tmp_path: Path
) -> None:
    policy = policy_of(lora=lora, past_actions=3)
    with torch.no_grad():
        for parameter in policy.policy_parameters():
            parameter.add_(0.01)
    export_policy(policy, tmp_path / "export")
    files = {each.name for each in (tmp_path / "export").iterdir()}
    assert files >= {"projector.safetensors", "critic.safetensors"}
    assert what_it_sees(tmp_path / "export") == "both"
    again = load_policy(tmp_path / "export")
    assert again.weight_digest() == policy.weight_digest()
    again.sampling = policy.sampling
    torch.testing.assert_close(log_probs(again, seen()), log_probs(policy, seen()))


def test_a_model_that_was_taught_on_elements_gets_eyes_and_may_lose_them(tmp_path: Path) -> None:
    taught = open_policy(tiny_model("llama"), VlmSettings(sampling=SHARP, lora=ADAPTED))
    with torch.no_grad():
        for parameter in taught.policy_parameters():
            parameter.add_(0.1)
    export_policy(taught, tmp_path / "taught")
    seeing = open_policy(tmp_path / "taught", VlmSettings(sampling=SHARP), sees="both")
    weights = taught.weights()
    assert all(torch.equal(weights[n], seeing.weights()[n]) for n in weights)
    assert seeing.projector is not None
    assert float(seeing.projector.down_proj.weight.detach().abs().max()) == 0.0
    _move(seeing)
    export_policy(seeing, tmp_path / "seeing")
    blind = open_policy(tmp_path / "seeing", VlmSettings(sampling=SHARP), sees="elements")
    assert blind.projector is None
    assert torch.equal(log_probs(blind, seen()), log_probs(taught, seen()))


def test_a_projector_of_another_reader_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = policy_of(lora=ADAPTED)
    export_policy(policy, tmp_path / "export")
    assert policy.projector is not None
    monkeypatch.setattr(policy.projector.reader, "digest", "another")
    with pytest.raises(CorruptModel, match="trained behind another screen reader"):
        load_exported(policy, tmp_path / "export")


def test_a_screen_that_the_reader_does_not_take_is_refused() -> None:
    policy = policy_of()
    with pytest.raises(UsageError, match="reads 360 × 720 pixels, and this one has 160 × 210"):
        policy.decide(SEEN[:1])


def test_the_reference_of_a_kl_penalty_does_not_learn_to_see() -> None:
    policy = policy_of(moved=False, lora=ADAPTED)
    model = tiny_model("llama")
    reference = start_policy(policy, model, None, lambda: policy_of(moved=False, lora=ADAPTED))
    before = reference.score(seen(), ANSWERS).log_probs
    _move(policy)
    after = reference.score(seen(), ANSWERS).log_probs
    assert not before.requires_grad
    assert torch.equal(before, after)
    assert not torch.equal(after, log_probs(policy, seen()))


def test_weights_without_eyes_are_not_those_of_a_policy_with_eyes() -> None:
    policy = policy_of()
    weights = {n: each for n, each in policy.weights().items() if not n.startswith(PROJECTOR)}
    assert any(name.startswith(CRITIC) for name in weights)
    with pytest.raises(UsageError, match=r"projector\."):
        policy.load_weights(weights, 1)


def test_a_screen_of_another_size_is_read_between_bars_and_scored_as_sampled() -> None:
    policy = policy_of()
    large = [replace(each, screen=screen(9, 1440, 720)) for each in seen()]
    decisions = policy.decide(large)
    with torch.no_grad():
        scores = policy.score(large, [each.token_ids for each in decisions])
    for row, decision in enumerate(decisions):
        sampled = torch.tensor(decision.log_probs)
        found = scores.log_probs[row, : len(sampled)]
        torch.testing.assert_close(found, sampled, atol=1e-4, rtol=0)
