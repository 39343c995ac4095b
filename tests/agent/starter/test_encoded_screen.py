"""What is remembered of a step is what would be encoded anew, and never too much of it."""

from __future__ import annotations

import copy

import torch
from tests.agent.starter.tiny_starter import padded, screens, tiny_starter
from torch import Tensor

from distrl.agent.starter.encoded_screen import FIELDS, EncodedScreen, EncodingMemory
from distrl.agent.starter.model import StarterModel

PROMPTS = padded(["Go home", "a", "", "Go home", "b"])


class CountingEncoder:
    """The real encoder, and how many steps it was shown."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, prompts: Tensor, pixels: Tensor) -> EncodedScreen:
        self.count += len(pixels)
        with torch.no_grad():
            return tiny_starter().encoder.read(prompts, pixels)[0]


def assert_same(found: EncodedScreen, wanted: EncodedScreen) -> None:
    for name in FIELDS:
        torch.testing.assert_close(getattr(found, name), getattr(wanted, name), atol=1e-5, rtol=0)


def test_remembered_is_as_good_as_encoded() -> None:
    memory, encode, pixels = EncodingMemory(10), CountingEncoder(), screens(5)
    wanted = CountingEncoder()(PROMPTS, pixels)
    assert_same(memory.recall(PROMPTS, pixels, encode), wanted)
    assert_same(memory.recall(PROMPTS, pixels, encode), wanted)
    assert encode.count == len(memory) == 5
    order = [4, 0, 2, 0]
    assert_same(
        memory.recall(PROMPTS[order], pixels[order], encode),
        CountingEncoder()(PROMPTS[order], pixels[order]),
    )
    assert encode.count == 5


def test_another_prompt_or_another_screen_is_another_step() -> None:
    memory, encode, pixels = EncodingMemory(10), CountingEncoder(), screens(2)
    memory.recall(padded(["a"]), pixels[:1], encode)
    memory.recall(padded(["b"]), pixels[:1], encode)
    memory.recall(padded(["a"]), pixels[1:], encode)
    assert encode.count == 3
    both = memory.recall(padded(["a", "a longer one"]), pixels[[0, 0]], encode)
    assert encode.count == 4  # padded further, "a" is still the same
    assert_same(both, CountingEncoder()(padded(["a", "a longer one"]), pixels[[0, 0]]))


def test_the_least_recently_used_go_first() -> None:
    memory, encode, pixels = EncodingMemory(3), CountingEncoder(), screens(5)
    memory.recall(PROMPTS[:3], pixels[:3], encode)
    memory.recall(PROMPTS[:1], pixels[:1], encode)  # the first is fresh again
    memory.recall(PROMPTS[3:4], pixels[3:4], encode)  # so the second goes
    assert (len(memory), encode.count) == (3, 4)
    memory.recall(PROMPTS[[0, 2, 3]], pixels[[0, 2, 3]], encode)
    assert encode.count == 4
    memory.recall(PROMPTS[1:2], pixels[1:2], encode)
    assert encode.count == 5


def test_a_batch_larger_than_the_memory_is_encoded_all_the_same() -> None:
    memory, encode, pixels = EncodingMemory(2), CountingEncoder(), screens(5)
    assert_same(memory.recall(PROMPTS, pixels, encode), CountingEncoder()(PROMPTS, pixels))
    assert len(memory) == 2
    kept = [tensor for step in memory._known.values() for tensor in step]
    for tensor in kept:  # and does not keep the whole of it
        assert tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()


def frozen(model: StarterModel) -> StarterModel:
    """As a policy freezes it."""
    model.encoder.requires_grad_(False)
    return model


@torch.no_grad()
def test_only_an_encoder_that_no_longer_learns_remembers() -> None:
    model = copy.deepcopy(tiny_starter())
    memory = model.encoder.memory
    model.encoder(padded(["a"]), None, screens(1))
    assert len(memory) == 0
    frozen(model).encoder.norm.requires_grad_(True)
    model.encoder(padded(["a"]), None, screens(1))
    assert len(memory) == 0  # a part of it still learns, without a gradient just now
    frozen(model).encoder(padded(["a"]), None, screens(1))
    assert len(memory) == 1


def test_answers_are_the_same_with_and_without_memory() -> None:
    learning, remembering = tiny_starter(), frozen(copy.deepcopy(tiny_starter()))
    begun = padded(["<tap>"] * 3)
    for rows in ([0, 1, 2], [2, 0, 1], [0, 1, 2]):
        inputs = {"input_ids": PROMPTS[rows], "pixel_values": screens(3)[rows]}
        wanted = learning(**inputs, decoder_input_ids=begun).logits
        found = remembering(**inputs, decoder_input_ids=begun).logits
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    assert len(remembering.encoder.memory) == 3


def test_whoever_only_acts_remembers_nothing_and_learns_all_the_same() -> None:
    """Tensors of inference mode would get into a gradient's way."""
    model = frozen(copy.deepcopy(tiny_starter()))
    inputs = {"input_ids": padded(["Go"]), "pixel_values": screens(1)}
    with torch.inference_mode():
        model(**inputs, decoder_input_ids=padded(["<tap>"]))
    assert len(model.encoder.memory) == 0
    for _ in range(2):
        model(**inputs, decoder_input_ids=padded(["<tap>"])).logits.sum().backward()
    assert len(model.encoder.memory) == 1
    gradient = model.say.weight.grad
    assert gradient is not None
    assert float(gradient.abs().max()) > 0
    assert model.encoder.spelling.weight.grad is None
