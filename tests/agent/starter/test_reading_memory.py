"""What is remembered of a screen is what would be read anew, and never too much of it."""

from __future__ import annotations

import copy

import torch
from tests.agent.starter.tiny_starter import padded, screens, tiny_starter
from torch import Tensor

from distrl.agent.starter.model import StarterModel
from distrl.agent.starter.reading_memory import FIELDS, ReadingMemory
from distrl.agent.starter.screen_reader import ReadScreen

TABLE = torch.randn(
    tiny_starter().encoder.letter_table.weight.shape, generator=torch.Generator().manual_seed(0)
)


class CountingReader:
    """The real reader, and how many screens it was shown."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, pixels: Tensor) -> ReadScreen:
        self.count += len(pixels)
        with torch.no_grad():
            read: ReadScreen = tiny_starter().encoder.screen_reader(pixels, TABLE)
        return read


def assert_same(found: ReadScreen, wanted: ReadScreen) -> None:
    for name in FIELDS:
        torch.testing.assert_close(getattr(found, name), getattr(wanted, name), atol=1e-6, rtol=0)


def test_remembered_is_as_good_as_read() -> None:
    memory, reader, pixels = ReadingMemory(10), CountingReader(), screens(4)
    wanted = CountingReader()(pixels)
    assert_same(memory.read(pixels, reader), wanted)
    assert_same(memory.read(pixels, reader), wanted)
    assert reader.count == len(memory) == 4
    mixed = torch.cat([pixels[2:3], screens(2, seed=9), pixels[:1], pixels[2:3]])
    assert_same(memory.read(mixed, reader), CountingReader()(mixed))
    assert reader.count == len(memory) == 6  # only the two new ones


def test_a_screen_that_comes_twice_at_once_is_read_once() -> None:
    memory, reader = ReadingMemory(10), CountingReader()
    twice = screens(2)[[0, 1, 0]]
    assert_same(memory.read(twice, reader), CountingReader()(twice))
    assert reader.count == 2


def test_the_least_recently_used_go_first() -> None:
    memory, reader, pixels = ReadingMemory(3), CountingReader(), screens(5)
    memory.read(pixels[:3], reader)
    memory.read(pixels[:1], reader)  # the first is fresh again
    memory.read(pixels[3:4], reader)  # so the second goes
    assert (len(memory), reader.count) == (3, 4)
    memory.read(pixels[[0, 2, 3]], reader)
    assert reader.count == 4
    memory.read(pixels[1:2], reader)
    assert reader.count == 5


def test_a_batch_larger_than_the_memory_is_read_all_the_same() -> None:
    memory, reader, pixels = ReadingMemory(2), CountingReader(), screens(5)
    assert_same(memory.read(pixels, reader), CountingReader()(pixels))
    assert len(memory) == 2


def test_one_screen_of_a_large_batch_does_not_keep_the_batch() -> None:
    memory, reader = ReadingMemory(2), CountingReader()
    memory.read(screens(6), reader)
    kept = [tensor for read in memory._known.values() for tensor in read]
    for tensor in kept:
        assert tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()


def frozen(model: StarterModel) -> StarterModel:
    """As a policy freezes it."""
    for part in (model.encoder.screen_reader, model.encoder.letter_table):
        part.requires_grad_(False)
    return model


@torch.no_grad()
def test_only_a_reader_that_no_longer_learns_remembers() -> None:
    model = copy.deepcopy(tiny_starter())
    memory = model.encoder.memory
    model.encoder(padded(["a"]), None, screens(1))
    assert len(memory) == 0
    model.encoder.screen_reader.requires_grad_(False)
    model.encoder(padded(["a"]), None, screens(1))
    assert len(memory) == 0  # its letters still learn, without a gradient just now
    model.encoder.letter_table.requires_grad_(False)
    model.encoder(padded(["a"]), None, screens(1))
    assert len(memory) == 1


def test_answers_are_the_same_with_and_without_memory() -> None:
    learning, remembering = tiny_starter(), frozen(copy.deepcopy(tiny_starter()))
    begun = padded(["<tap>"] * 3)
    for pixels in (screens(3), screens(3)[[2, 0, 1]], screens(3)):
        inputs = {"input_ids": padded(["Go home", "a", ""]), "pixel_values": pixels}
        wanted = learning(**inputs, decoder_input_ids=begun).logits
        found = remembering(**inputs, decoder_input_ids=begun).logits
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    assert len(remembering.encoder.memory) == 3


def test_what_was_read_while_deciding_can_be_learned_from() -> None:
    """Tensors of inference mode must not get into a gradient's way."""
    model = frozen(copy.deepcopy(tiny_starter()))
    inputs = {"input_ids": padded(["Go"]), "pixel_values": screens(1)}
    with torch.inference_mode():
        model(**inputs, decoder_input_ids=padded(["<tap>"]))
    assert len(model.encoder.memory) == 1
    model(**inputs, decoder_input_ids=padded(["<tap>"])).logits.sum().backward()
    gradient = model.encoder.spelling.weight.grad
    assert gradient is not None
    assert float(gradient.abs().max()) > 0
