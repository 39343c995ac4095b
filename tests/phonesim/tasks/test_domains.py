"""Test values are kept apart from training values."""

import random

import pytest

from phonesim.tasks.domains import Domain

LETTERS = Domain("letters", tuple("abcdefghijklmnop"), reserved=("z",))


def test_training_and_test_values_are_disjoint_and_together_all() -> None:
    assert not set(LETTERS.train) & set(LETTERS.test)
    assert sorted(LETTERS.train + LETTERS.test) == list("abcdefghijklmnop")
    assert len(LETTERS.test) == 4


def test_reserved_values_are_drawn_only_for_held_out_apps() -> None:
    rng = random.Random(0)
    for split in ("train", "test", "held_out_templates"):
        assert all(LETTERS.draw(rng, split) != "z" for _ in range(200))
    assert LETTERS.draw(rng, "held_out_apps") == "z"


def test_the_split_does_not_depend_on_the_order_of_the_values() -> None:
    shuffled = Domain("letters", tuple(reversed("abcdefghijklmnop")))
    assert set(shuffled.test) == set(LETTERS.test)


def test_too_few_values_cannot_be_split() -> None:
    with pytest.raises(ValueError, match="needs at least 4"):
        Domain("pair", ("on", "off"))
