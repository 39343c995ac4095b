"""The phone as a Gymnasium environment: its spaces, its endings, and the ids that `make` finds."""

import subprocess
import sys
import warnings
from typing import get_args

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from distrl.errors import InvalidAction, UnknownTask
from distrl.records import Action, Family, Pinch, Split, Unreadable
from phonesim.drift import NO_DRIFT
from phonesim.faults import Faults
from phonesim.gymnasium_env import KINDS, PhoneEnv, read_action
from phonesim.tasks.task_sets import load_task, template_names


def action(kind: str, x: float = 0.5, y: float = 0.5, text: str = "") -> dict[str, object]:
    point = np.array([x, y], dtype=np.float32)
    return {"kind": KINDS.index(kind), "point": point, "to": point, "text": text}


@pytest.mark.parametrize("name", ["Phone-General-v0", "Phone-Shopping-v0", "Phone-Everyday-v0"])
def test_it_passes_gymnasiums_own_checker(name: str) -> None:
    environment = gymnasium.make(name, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(environment.unwrapped)


@pytest.mark.parametrize("split", get_args(Split))
@pytest.mark.parametrize("family", get_args(Family))
def test_every_instruction_lies_in_the_observation_space(family: Family, split: Split) -> None:
    space = PhoneEnv(family).observation_space
    assert isinstance(space, gymnasium.spaces.Dict)
    for name in template_names(split, family):
        for number in range(40):
            task, _ = load_task(f"{name}/{split}/{number}")
            assert task.instruction in space["instruction"], task.instruction


WAYS = [
    ("gymnasium", "phonesim.gymnasium_env:Phone-General-v0"),
    ("gymnasium, phonesim", "Phone-General-v0"),
    ("gymnasium", "distrl:Phone-General-v0"),
]
MORE_WAYS = [
    ("phonesim, distrl, gymnasium", "phonesim.gymnasium_env:Phone-Shopping-v0"),
    ("phonesim.gymnasium_env, gymnasium", "Phone-General-v0"),
    ("gymnasium", "phonesim:Phone-General-v0"),
    ("phonesim, gymnasium, distrl", "distrl:Phone-General-v0"),
    ("gymnasium, distrl", "distrl/Phone-General-v0"),  # the id of before
]


@pytest.mark.parametrize(
    ("imports", "name"),
    [WAYS[0], *(pytest.param(*way, marks=pytest.mark.slow) for way in WAYS[1:] + MORE_WAYS)],
)
def test_make_finds_it(imports: str, name: str) -> None:
    code = f"import {imports}; print(gymnasium.make('{name}').spec.id)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == name.rpartition(":")[2]


def test_importing_the_phone_leaves_gymnasium_and_the_import_system_alone() -> None:
    code = (
        "import sys; before = list(sys.meta_path); import phonesim, distrl; "
        "print(sys.meta_path == before, 'gymnasium' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_the_same_seed_gives_the_same_task_and_screen() -> None:
    one, two = PhoneEnv(), PhoneEnv()
    (first, info_one), (second, info_two) = one.reset(seed=5), two.reset(seed=5)
    assert info_one["task"] == info_two["task"]
    assert np.array_equal(first["screen"], second["screen"])


def test_saying_done_terminates_and_the_step_limit_truncates() -> None:
    environment = PhoneEnv()
    environment.reset(options={"task": "notes.create/train/0"})
    _, reward, terminated, truncated, info = environment.step(action("done"))
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert info["reason"]
    _, begun = environment.reset(options={"task": "notes.create/train/0"})
    ends = [environment.step(action("wait"))[2:4] for _ in range(begun["task"].step_limit)]
    assert ends[-1] == (False, True)
    assert set(ends[:-1]) == {(False, False)}


def test_the_task_can_be_done_through_it() -> None:
    environment = PhoneEnv()
    _, begun = environment.reset(options={"task": "notes.pin/train/2"})
    template = environment.judge.template

    def centre(label: str) -> tuple[float, float]:
        found = [e for e in environment.device.elements() if e.text == label]
        return found[-1].centre[0] / 360, found[-1].centre[1] / 720

    environment.step(action("open_app", text="Notes"))
    if environment.device.phone.state.popup:
        environment.step(action("back"))
    environment.step(action("long_press", *centre(template.title)))  # type: ignore[attr-defined]
    if environment.device.phone.state.popup:
        environment.step(action("back"))
    environment.step(action("tap", *centre("Pin")))
    _, reward, terminated, _, info = environment.step(action("done"))
    assert (reward, terminated) == (1.0, True), info["reason"]
    assert begun["task"].template == "notes.pin"


def test_a_device_fault_truncates_and_is_named() -> None:
    environment = PhoneEnv(faults=Faults(schedule={1: "disconnect"}))
    environment.reset(seed=1)
    _, reward, terminated, truncated, info = environment.step(action("home"))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert "DeviceDisconnected" in info["fault"]


def test_bad_input_is_refused_and_the_environment_stays_usable() -> None:
    environment = PhoneEnv()
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(action("home"))
    environment.reset(seed=1)
    with pytest.raises(UnknownTask):
        environment.reset(options={"task": "no.such/train/0"})
    with pytest.raises(InvalidAction, match="outside the screen"):
        environment.step(action("tap", x=1.5))
    with pytest.raises(InvalidAction, match="there are 21"):
        environment.step(action("tap") | {"kind": 99})
    assert environment.step(action("home"))[0]["screen"].shape == (720, 360, 3)


def test_the_first_kinds_are_those_of_before_and_the_rare_ones_follow() -> None:
    assert KINDS[:12] == (
        "tap", "long_press", "swipe", "type", "back", "home", "enter", "open_app", "wait", "answer",
        "done", "impossible",
    )  # fmt: skip
    read = [type(read_action(action(kind, text="a"))) for kind in KINDS]
    assert len(set(read)) == len(KINDS)
    assert set(read) == set(get_args(Action)) - {Unreadable}


@pytest.mark.parametrize(("right", "scale"), [(0.0, 0.1), (0.5, 1.0), (1.0, 10.0)])
def test_a_pinch_spreads_as_far_as_its_end_says(right: float, scale: float) -> None:
    pinch = read_action({**action("pinch", 0.25, 0.75), "to": np.array([right, 0.0])})
    assert pinch == Pinch(0.25, 0.75, scale)


def test_rare_actions_are_performed_and_the_user_replies() -> None:
    environment = PhoneEnv(drift=NO_DRIFT)
    environment.reset(options={"task": "notes.create/train/3"})
    environment.step(action("open_shade"))
    assert environment.device.phone.state.overlay == "shade"
    environment.step(action("home"))
    environment.step(action("recents"))
    assert environment.device.phone.state.overlay == "recents"
    info = environment.step(action("ask_user", text="Which title?"))[-1]
    assert info["reply"].startswith("The title is ")
    environment.step(action("power"))
    assert environment.device.phone.state.asleep
    assert "reply" not in environment.step(action("double_tap"))[-1]
