"""The starter on the path of every other model: decide, score, adapt, export, come back."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tomllib
from pathlib import Path

import pytest
import torch
from tests.agent.made_up_screens import blocks
from tests.agent.starter.tiny_starter import starter_directory
from tests.imitation.few_samples import batch_of, samples
from tests.slow_params import mostly_slow

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.loading import STARTER_DIRECTORY, load_policy, open_policy
from distrl.agent.lora import LoraSettings
from distrl.agent.policy_weights import export_policy, load_exported
from distrl.agent.prompt import Prompt
from distrl.agent.starter.inputs import MAX_CHARACTERS, PAST_ACTIONS
from distrl.agent.starter.model import StarterModel
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.episodes.evaluation import evaluation_tasks, play
from distrl.errors import CorruptModel, MissingTokens, UsageError
from distrl.imitation.losses import unpack_bits
from distrl.learning.batch import observation_of
from distrl.records import Back, LongPress, Observation, Tap
from distrl.replay.trajectory_encoding import decode_trajectory, encode_trajectory
from phonesim.display import read_display
from phonesim.simulated_device import SimulatedDevice

OBSERVATIONS = [
    Observation("Add a note that says milk.", blocks(1, 360, 720), ()),
    Observation("Go home.", blocks(2, 360, 720), (Tap(0.5, 0.25), Back()), (blocks(3),)),
    Observation('Find “Lamp”, buy it for 🙂 "$3.50"', blocks(4, 360, 720), ()),
]
TARGETS = ("<tap><18,36>", "<home>", "<type>Lamp, please")
SHARP = SamplingSettings(temperature=0.5, max_new_tokens=8)
GREEDY = SamplingSettings(max_new_tokens=8, greedy=True)


def tiny_policy(lora: LoraSettings | None = None) -> VlmPolicy:
    return open_policy(starter_directory(), VlmSettings(sampling=SHARP, lora=lora))


def assert_scored_as_sampled(policy: VlmPolicy, observations: list[Observation]) -> None:
    decisions = policy.decide(observations)
    with torch.no_grad():
        scores = policy.score(observations, [each.token_ids for each in decisions])
    for row, decision in enumerate(decisions):
        sampled = torch.tensor(decision.log_probs)
        scored = scores.log_probs[row, : len(sampled)]
        torch.testing.assert_close(scored, sampled, atol=1e-4, rtol=0)


def loss_of(policy: VlmPolicy) -> torch.Tensor:
    answers = [policy.builder.answers.encode(text) for text in TARGETS]
    scores = policy.score(OBSERVATIONS, answers)
    return -(scores.log_probs * scores.token_mask).sum() / scores.token_mask.sum()


def train(policy: VlmPolicy, steps: int) -> list[float]:
    optimizer = torch.optim.Adam(policy.policy_parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        loss = loss_of(policy)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_what_is_sampled_is_what_is_scored() -> None:
    policy = tiny_policy()
    assert_scored_as_sampled(policy, OBSERVATIONS)
    assert_scored_as_sampled(policy, OBSERVATIONS)  # now from the reading memory


def test_prompts_are_as_it_was_taught() -> None:
    policy = tiny_policy()
    assert policy.prompter.past_actions == PAST_ACTIONS
    assert policy.prompter.dialect.name == "compact"
    assert policy.builder.seen_size(OBSERVATIONS[0].screen) == ImageSize(360, 720)
    tensors = policy.builder.build([policy.prompter.write(each) for each in OBSERVATIONS]).tensors
    assert torch.equal(tensors["pixel_values"][1], torch.tensor(OBSERVATIONS[1].screen.pixels))
    assert tensors["attention_mask"].sum(1).tolist() == [
        int((row != 0).sum()) for row in tensors["input_ids"]
    ]


def test_a_very_long_prompt_loses_its_end() -> None:
    builder = tiny_policy().builder
    ids = builder.build([Prompt("", "ab " * 200, ())]).tensors["input_ids"]
    assert ids.shape == (1, MAX_CHARACTERS)


def test_nothing_that_a_person_says_ends_or_pads_a_prompt() -> None:
    ids = tiny_policy().builder.build([Prompt("", "Type <end><pad><start>", ())]).tensors
    assert not {0, 1, 2} & set(ids["input_ids"][0].tolist())


def test_an_instruction_alone_has_a_value_too() -> None:
    policy = tiny_policy()
    with torch.no_grad():
        both = policy.instruction_logits(["Open the clock", "Buy a lamp"])
    assert float((both[0] - both[1]).abs()) > 1e-4


@pytest.mark.parametrize("lora", [None, LoraSettings(rank=4)], ids=["whole", "adapters"])
def test_it_trains_is_exported_and_comes_back(lora: LoraSettings | None, tmp_path: Path) -> None:
    policy = tiny_policy(lora)
    before = {name: each.clone() for name, each in policy.network.named_parameters()}
    losses = train(policy, steps=6)
    assert losses[-1] < losses[0] - 0.3
    moved = {
        name
        for name, each in policy.network.named_parameters()
        if not torch.equal(each, before[name])
    }
    assert moved
    assert not [n for n in moved if "screen_reader" in n or "letter_table" in n]  # it still reads
    if lora is not None:
        assert all("lora" in name for name in moved)

    policy.sampling = GREEDY
    export_policy(policy, tmp_path / "export")
    settings = VlmSettings(sampling=GREEDY)
    if lora is None:
        back = open_policy(tmp_path / "export", settings)
    else:
        back = open_policy(starter_directory(), settings, adapter=tmp_path / "export")
    assert back.decide(OBSERVATIONS) == policy.decide(OBSERVATIONS)
    with torch.no_grad():
        torch.testing.assert_close(loss_of(back), loss_of(policy), atol=1e-5, rtol=0)


def test_a_reader_of_another_model_is_not_mixed_in(tmp_path: Path) -> None:
    """What stays as it is in training is compared, for nobody would see the difference."""
    trained = tiny_policy()
    with torch.no_grad():
        trained.network.get_parameter("encoder.screen_reader.look.bias")[0] += 1.0
    export_policy(trained, tmp_path / "export")
    with pytest.raises(CorruptModel, match=r"screen_reader.look.bias, which no training changes"):
        load_exported(tiny_policy(), tmp_path / "export")


# Screens of other sizes ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(1280, 800), (160, 210)])
def test_a_screen_that_loses_too_much_is_refused(size: tuple[int, int]) -> None:
    strange = dataclasses.replace(OBSERVATIONS[0], screen=blocks(1, *size))
    sizes = rf"starter model reads 360 × 720 pixels, and this one has {size[0]} × {size[1]}: "
    with pytest.raises(UsageError, match=sizes):
        tiny_policy().decide([strange])


def test_a_batch_of_many_sizes_is_scored_as_sampled() -> None:
    sizes = ((1080, 2400), (360, 720), (412, 732), (200, 400))
    seen = [
        Observation("Add a note.", blocks(seed, *size), (Tap(0.9, 0.2),))
        for seed, size in enumerate(sizes)
    ]
    policy = tiny_policy()
    assert_scored_as_sampled(policy, seen)
    pixels = policy.builder.build([policy.prompter.write(each) for each in seen]).tensors
    assert pixels["pixel_values"].shape == (4, 720, 360, 3)
    assert torch.equal(pixels["pixel_values"][1], torch.tensor(seen[1].screen.pixels))


@pytest.mark.parametrize("screen", mostly_slow(["1080x2400@3", "412x732@1"], ["412x732@1"]))
def test_a_stored_episode_on_a_phone_of_another_size_is_scored_as_it_was_played(
    screen: str,
) -> None:
    """As the learner does it: from stored screens and actions, by a policy of its own."""
    task = next(evaluation_tasks("test"))
    display = read_display(screen)
    player = tiny_policy()
    phones = [SimulatedDevice("phone", display=display)]
    [trajectory] = play([task], lambda task, device, judge: player, phones)
    trajectory = decode_trajectory(encode_trajectory(trajectory), verify=True)
    steps = range(len(trajectory.decisions))
    learner = tiny_policy()
    with torch.no_grad():
        seen = [observation_of(trajectory, step) for step in steps]
        scores = learner.score(seen, [each.token_ids for each in trajectory.decisions])
    assert {(each.screen.width, each.screen.height) for each in seen} == {
        (display.width, display.height)
    }
    touches = 0
    for step, decision in enumerate(trajectory.decisions):
        sampled = torch.tensor(decision.log_probs)
        torch.testing.assert_close(
            scores.log_probs[step, : len(sampled)], sampled, atol=1e-4, rtol=0
        )
        assert learner.prompter.read(decision.text, seen[step]) == decision.action
        if step and isinstance(trajectory.decisions[step - 1].action, Tap):
            touches += 1  # told in the next prompt by the very cell that was answered
            assert learner.prompter.write(seen[step]).text.endswith(
                trajectory.decisions[step - 1].text
            )
    assert touches


def test_a_tokenizer_of_something_else_is_refused(tmp_path: Path) -> None:
    directory = shutil.copytree(starter_directory(), tmp_path / "mixed")
    content = json.loads((directory / "tokenizer.json").read_text("utf-8"))
    content["added_tokens"] = [t for t in content["added_tokens"] if t["content"] != "<35,71>"]
    content["model"]["vocab"].pop("<35,71>")
    (directory / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(MissingTokens, match="<35,71>"):
        open_policy(directory, VlmSettings())


# The model that we ship --------------------------------------------------------------------------


def test_the_shipped_model_is_small_and_whole() -> None:
    files = {file.name: file.stat().st_size for file in STARTER_DIRECTORY.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "curve.json"} <= set(files)
    assert sum(files.values()) < 20e6


def test_the_shipped_model_is_part_of_the_package() -> None:
    root = STARTER_DIRECTORY.parents[4]
    package = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    shipped = {
        file
        for pattern in package["package-data"]["distrl"]
        for file in (root / "src" / "distrl").glob(pattern)
    }
    assert set(STARTER_DIRECTORY.iterdir()) <= shipped


def test_the_shipped_model_acts_rightly_on_screens_that_it_has_never_seen() -> None:
    """Measured: 95 % of 2,048 steps of the test split; sampling and scoring agree there, too."""
    policy = load_policy("starter", greedy=True)
    assert isinstance(policy.network, StarterModel)
    some = samples("test", 30, every=5)
    cells = unpack_bits(batch_of(some)["cells"])
    decisions = policy.decide([sample.observation for sample in some])
    right = 0
    for sample, decision, allowed in zip(some, decisions, cells, strict=True):
        if isinstance(sample.action, Tap | LongPress):
            place = decision.token_ids[1] - policy.network.config.first_place
            right += type(decision.action) is type(sample.action) and bool(allowed[max(place, 0)])
        else:
            right += decision.action == sample.action
    assert right / len(some) > 0.75
    policy.sampling = SamplingSettings(max_new_tokens=48)
    assert_scored_as_sampled(policy, [sample.observation for sample in some[:6]])
