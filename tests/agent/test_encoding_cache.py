"""What is kept of a step is what would be encoded anew, by content, and never too much of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.agent.made_up_screens import blocks
from tests.agent.starter.tiny_starter import starter_directory
from tests.agent.vlm_policies import tiny_policy
from torch import Tensor

from distrl.agent.answer_sampling import SamplingSettings
from distrl.agent.encoding_cache import FIRST_ROWS, EncodingCache, Key, Parts, encoding_key
from distrl.agent.loading import open_policy
from distrl.agent.prompt import Prompt
from distrl.agent.vlm_policy import VlmPolicy
from distrl.agent.vlm_settings import VlmSettings
from distrl.records import Observation, Screen
from distrl.replay.compressed_screen import compress

ROW = 2 * 4 + 8  # bytes: two float32 and an int64


class Encoder:
    """Encodes a key as its length and its number of letters "a"; counts what it was shown."""

    def __init__(self, keys: list[Key]) -> None:
        self.keys = keys
        self.shown: list[Key] = []

    def __call__(self, places: list[int]) -> Parts:
        chosen = [self.keys[place] for place in places]
        self.shown += chosen
        return parts(chosen)


def parts(keys: list[Key]) -> Parts:
    numbers = torch.tensor([[len(text), text.count("a")] for (text,) in keys])
    return numbers.float(), numbers[:, 0]


def asked(cache: EncodingCache, *texts: str) -> list[Key]:
    """Ask for these rows, check them, and return what had to be encoded."""
    keys: list[Key] = [(text,) for text in texts]
    encoder = Encoder(keys)
    for found, wanted in zip(cache.rows(keys, encoder), parts(keys), strict=True):
        assert torch.equal(found, wanted)
    return encoder.shown


def test_a_known_row_is_not_encoded_again() -> None:
    cache = EncodingCache(100 * ROW)
    assert asked(cache, "a", "bb", "aa") == [("a",), ("bb",), ("aa",)]
    assert asked(cache, "aa", "c", "a", "aa") == [("c",)]
    assert (len(cache), cache.encoded, cache.found) == (4, 4, 3)


def test_the_same_row_twice_in_a_batch_is_encoded_once() -> None:
    assert asked(EncodingCache(100 * ROW), "a", "a", "b", "a") == [("a",), ("b",)]


def test_the_least_recently_used_go_first() -> None:
    cache = EncodingCache(3 * ROW)
    asked(cache, "a", "b", "c")
    asked(cache, "a")
    assert asked(cache, "d") == [("d",)]  # in place of b
    assert asked(cache, "a", "c", "d") == []
    assert asked(cache, "b") == [("b",)]
    assert len(cache) == 3


def test_no_row_of_a_batch_drives_out_another_of_it() -> None:
    cache = EncodingCache(3 * ROW)
    asked(cache, "a", "b", "c")
    assert asked(cache, "d", "e", "a") == [("d",), ("e",)]


def test_a_batch_that_never_fits_is_encoded_whole_and_not_kept() -> None:
    cache = EncodingCache(2 * ROW)
    assert asked(cache, "a", "b", "c")[-3:] == [("a",), ("b",), ("c",)]
    assert asked(cache, "a") == [("a",)]


def test_memory_grows_with_what_is_kept_and_stays_within_its_bound() -> None:
    rows = 3 * FIRST_ROWS
    cache = EncodingCache(rows * ROW)
    asked(cache, "a")
    assert cache.nbytes == FIRST_ROWS * ROW
    for number in range(5 * rows):
        asked(cache, "x" * (number % 7) + "a" * number)
    assert (len(cache), cache.nbytes) == (rows, rows * ROW)


def test_rows_from_elsewhere_are_as_good() -> None:
    cache = EncodingCache(2 * ROW)
    keys: list[Key] = [("a",), ("bb",), ("aaa",)]
    cache.put(keys, parts(keys))
    assert asked(cache, "bb", "aaa") == []  # of more than fit, the last
    cache.put([("bb",)], parts([("bb",)]))  # known already
    assert asked(cache, "bb", "aaa") == []


def test_others_may_put_while_a_batch_is_encoded_and_even_drive_out_its_rows() -> None:
    cache = EncodingCache(3 * ROW)
    asked(cache, "a")
    keys: list[Key] = [("a",), ("b",)]
    shown: list[list[int]] = []

    def encode(places: list[int]) -> Parts:
        shown.append(places)
        if len(shown) == 1:  # as another thread does
            others: list[Key] = [("x",), ("yy",), ("zzz",)]
            cache.put(others, parts(others))
        return parts([keys[place] for place in places])

    for found, wanted in zip(cache.rows(keys, encode), parts(keys), strict=True):
        assert torch.equal(found, wanted)
    assert shown == [[1], [0]]


def screen(shade: int) -> Screen:
    return Screen(np.full((4, 6, 3), shade, np.uint8))


def test_a_key_says_text_and_content_of_the_screens() -> None:
    key = encoding_key(Prompt("", "Go", (compress(screen(1)),)))
    assert key == encoding_key(Prompt("", "Go", (compress(screen(1)),)))
    assert key != encoding_key(Prompt("", "Go", (compress(screen(2)),)))
    assert key != encoding_key(Prompt("", "Stop", (compress(screen(1)),)))
    assert key != encoding_key(Prompt("", "Go", ()))
    assert encoding_key(Prompt("", "Go", (screen(1),))) == encoding_key(
        Prompt("", "Go", (screen(1),))
    )


def test_the_same_bytes_in_rows_of_another_length_are_another_screen() -> None:
    """Between other bars, one plain color is another picture."""
    lying, upright = screen(1), Screen(np.full((6, 4, 3), 1, np.uint8))
    for pair in ((lying, upright), (compress(lying), compress(upright))):
        keys = [encoding_key(Prompt("", "Go", (each,))) for each in pair]
        assert keys[0] != keys[1]


class NoPixels(Exception):
    """Raised where pixels are asked for."""


def starter(cache_megabytes: int) -> VlmPolicy:
    sampling = SamplingSettings(max_new_tokens=8)
    settings = VlmSettings(sampling=sampling, cache_megabytes=cache_megabytes)
    return open_policy(starter_directory(), settings)


@pytest.mark.parametrize("prepared", [False, True])
def test_a_known_screen_is_never_unpacked(monkeypatch: pytest.MonkeyPatch, prepared: bool) -> None:
    """And scores are those of a policy that keeps nothing, gradients as well."""
    keeping, plain = starter(cache_megabytes=64), starter(cache_megabytes=0)
    seen = [Observation(f"Go {n}", compress(blocks(n, 360, 720)), ()) for n in range(3)]
    answers = [decision.token_ids for decision in plain.decide(seen)]
    wanted = plain.score(seen, answers)
    if prepared:
        keeping.prepare(seen)
        keeping.prepare(seen)
    else:
        keeping.score(seen, answers)
    assert keeping.encodings.encoded == 3

    def unpack(self: object) -> None:
        raise NoPixels

    monkeypatch.setattr("distrl.replay.compressed_screen.CompressedScreen.pixels", property(unpack))
    found = keeping.score(seen, answers)
    torch.testing.assert_close(found.log_probs, wanted.log_probs, atol=1e-5, rtol=0)
    torch.testing.assert_close(found.value_logits, wanted.value_logits, atol=1e-5, rtol=0)
    assert gradients(keeping, found.log_probs) == pytest.approx(
        gradients(plain, wanted.log_probs), rel=1e-4
    )
    with pytest.raises(NoPixels):
        plain.score(seen, answers)


def gradients(policy: VlmPolicy, log_probs: Tensor) -> list[float]:
    parameters = list(policy.policy_parameters())
    found = torch.autograd.grad(log_probs.sum(), parameters, allow_unused=True)
    return [float(each.norm()) for each in found if each is not None]


def test_only_an_encoder_that_never_learns_is_kept() -> None:
    assert tiny_policy("qwen3_vl", past_screens=0)._cached is None
