"""Random actions on many phones, and not one exception: 40,000 of them with `--all-seeds`.

Half of them are blind; half hit something that can be tapped, so that deep pages are reached.
"""

import random

import pytest

from distrl.agent.simple_policies import MonkeyPolicy
from distrl.records import Action, LongPress, OpenApp, Tap, TypeText
from phonesim.dimensions import HEIGHT, WIDTH
from phonesim.drift import Drift
from phonesim.phone import Phone

ACTIONS = 1000
WORDS = (
    "",
    " ",
    "0",
    "-1",
    "ABBA",
    "naïve",
    "😀",
    "مرحبا",
    "a" * 300,
    '"; DROP',
    "\n",
    "12:61",
    "9" * 40,
)


def _aimed(phone: Phone, draw: random.Random) -> Action:
    """Something that a curious person would do on this screen."""
    if draw.random() < 0.08:
        return OpenApp(draw.choice(list(phone.apps)))
    if phone.state.focus and draw.random() < 0.5:
        return TypeText(draw.choice(WORDS))
    targets = [e for e in phone.elements() if e.clickable and e.window != "system"]
    if not targets:
        return Tap(draw.random(), draw.random())
    target = draw.choice(targets)
    x, y = target.centre[0] / WIDTH, target.centre[1] / HEIGHT
    return LongPress(x, y) if target.holdable and draw.random() < 0.3 else Tap(x, y)


@pytest.mark.seeds(2, 40)
def test_no_action_breaks_the_phone(seed: int) -> None:
    phone = Phone(seed, Drift(popup_rate=0.05, ad_rate=0.5))
    monkey, draw = MonkeyPolicy(seed), random.Random(f"curious/{seed}")
    for number in range(ACTIONS):
        action = monkey.act() if number % 2 else _aimed(phone, draw)
        phone.perform(action)
        phone.frame()
    assert phone.state.actions == ACTIONS
