"""Same seed and same actions, same pixels: in this process, in another one, after a restore."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from distrl.agent.simple_policies import MonkeyPolicy
from phonesim.phone import Phone

ACTIONS = 120


def digest(seed: int) -> str:
    """A hash over every frame of a monkey's afternoon."""
    phone, monkey, seen = Phone(seed), MonkeyPolicy(seed), hashlib.blake2b(digest_size=16)
    for _ in range(ACTIONS):
        phone.perform(monkey.act())
        seen.update(phone.frame().tobytes())
    return seen.hexdigest()


@pytest.mark.seeds(1, 2)
def test_pixels_are_the_same_in_another_process(seed: int) -> None:
    here = digest(seed)
    assert here == digest(seed)
    for hash_seed in ("0", "12345"):
        code = f"import test_determinism as t; print(t.digest({seed}))"
        environment = os.environ | {
            "PYTHONHASHSEED": hash_seed,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == here


def test_different_seeds_and_actions_give_different_pixels() -> None:
    assert digest(1) != digest(2)


def test_a_restored_phone_goes_on_exactly_as_the_first_time() -> None:
    phone, monkey = Phone(3), MonkeyPolicy(3)
    for _ in range(60):
        phone.perform(monkey.act())
    middle = phone.snapshot()
    actions = [monkey.act() for _ in range(60)]
    runs = []
    for _ in range(2):
        phone.restore(middle)
        frames = []
        for action in actions:
            phone.perform(action)
            frames.append(hashlib.blake2b(phone.frame().tobytes()).hexdigest())
        runs.append(frames)
    assert runs[0] == runs[1]
