"""What is refused when it is registered, and what must not be."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.engine.tiny_runs import tiny_config
from tests.plugin_package.src.distrl_quiet.grayscale_phone import GrayscalePhone
from tests.plugin_package.src.distrl_quiet.hush_app import Hush, HushApp
from tests.plugin_package.src.distrl_quiet.quiet_tasks import SilenceQuietly
from tests.plugin_package.src.distrl_quiet.reinforce import Reinforce, ReinforceSettings
from tests.plugin_package.src.distrl_quiet.sooner_reward import sooner

import distrl
from distrl.engine import wiring
from distrl.engine.device_wiring import make_registered
from distrl.errors import InvalidPlugin
from distrl.learning.algorithms.algorithm import PlannedAlgorithm
from distrl.learning.batch import Batch
from distrl.learning.gradient_step import GradientStep
from distrl.plugin_shape import PartKind, check_part
from phonesim.app import App
from phonesim.simulated_device import SimulatedDevice


class Forgetful(GrayscalePhone):
    reset = None  # type: ignore[assignment]


class HastyJudge:
    def begin(self) -> None: ...

    def verdict(self, answer: str | None) -> None: ...


@dataclasses.dataclass(frozen=True)
class NoGoal(SilenceQuietly):
    name = "quiet.no_goal"
    missing = SilenceQuietly.__mro__[1].missing  # type: ignore[attr-defined]


class Nameless:
    """All of a device's methods, and nothing of what they are for."""

    def __init__(self, host: str) -> None:
        self._host = host

    reset, screen, perform = SimulatedDevice.reset, SimulatedDevice.screen, SimulatedDevice.perform
    elements, close = SimulatedDevice.elements, SimulatedDevice.close
    __enter__, __exit__ = SimulatedDevice.__enter__, SimulatedDevice.__exit__


class Blank(App):
    name, icon, color = "Blank", "moon", (0, 0, 0)


class Loose(HushApp):
    name = "Loose"
    kinds = (dict,)  # type: ignore[assignment]


class Sip(Hush):  # without the decorator the glasses are no field
    glasses: int = 0


class Undecorated(HushApp):
    name = "Undecorated"
    kinds = (Sip,)


class Made(HushApp):
    name = "Made"
    kinds = (Hush(),)  # type: ignore[assignment]


class NeverUpdates:
    draws, discount = "uniform", 1.0

    def __init__(self, step: GradientStep) -> None: ...


class Deaf(NeverUpdates):
    def update(self, batch: Batch) -> None: ...


class PlanLess(PlannedAlgorithm):
    def __init__(self, step: GradientStep) -> None: ...


def no_arguments() -> None: ...


def by_place_alone(name: str, url: str, /) -> None: ...


@pytest.mark.parametrize(
    ("kind", "name", "part", "said"),
    [
        ("device", "forgetful", Forgetful, r"no reset\(\)\. Expected: a class Device\(name"),
        ("device", "nothing", no_arguments, r"cannot be called with 1 argument\. Expected: a fun"),
        (
            "device",
            "by_place",
            by_place_alone,
            r"url: 'str', /\) -> 'None' cannot be called with 1",
        ),
        ("device", "adb", GrayscalePhone, "DistRL has one of that name"),
        ("device", "a b", GrayscalePhone, "names begin with a letter"),
        ("judge", "hasty", HastyJudge, "Expected: a class made with the device"),
        ("judge", "none", no_arguments, r"judge\(trajectory\) -> Verdict"),
        ("task", "quiet.no_goal", NoGoal, "it does not say missing"),
        ("task", "list", list, "name is 'missing', no str"),
        ("task", "words", "words", "id is 'missing', no str"),
        ("model_family", "text", "qwen", "name is 'missing', no str"),
        ("algorithm", "none", no_arguments, r"make\(step, \*\*options\)"),
        ("algorithm", "idle", NeverUpdates, r"no update\(\)\. Expected: a class Algorithm\(step"),
        ("algorithm", "deaf", Deaf, "cannot be called with 1 argument and policy_moves=…"),
        ("algorithm", "planless", PlanLess, "it is abstract: it does not say plan"),
        ("dialect", "text", "compact", "name is 'missing', no str"),
        ("reward", "none", no_arguments, r"reward\(trajectory\) -> one number"),
        ("app", "Blank", Blank, r"it does not say home\. Expected: a class that inherits phonesim"),
        ("app", "Loose", Loose, "of its kinds is no frozen dataclass with the first field id"),
        ("app", "Notes", HushApp, "DistRL has one of that name"),
        ("app", "Hush", HushApp(), "it cannot be called"),
        (
            "app",
            "Weather/Now",
            HushApp,
            "^an app called 'Weather/Now'; names of apps are 1 to 30 pr",
        ),
        ("app", " Water", HushApp, "begin and end with no space"),
        ("app", "Water\nLog", HushApp, "printable characters"),
        ("app", "W" * 31, HushApp, "1 to 30"),
        (
            "app",
            "Undecorated",
            Undecorated,
            "Sip'> of its kinds is no frozen .* is decorated itself",
        ),
        ("app", "Made", Made, r"Hush\(id=0, minutes=0\) of its kinds is no frozen dataclass"),
        ("step_view", "grayscale", sooner, r"cannot be called with 2 arg.*show\(trajectory, step"),
    ],
)
def test_a_part_of_another_shape_is_refused(
    kind: PartKind, name: str, part: Any, said: str
) -> None:
    with pytest.raises(InvalidPlugin, match=said):
        check_part(kind, name, part)


class Remote(GrayscalePhone):
    def __init__(self, name: str, url: str) -> None:
        super().__init__(name)
        self.url = url


def discounted(step: GradientStep, discount: float) -> Reinforce:
    return Reinforce(step, ReinforceSettings(discount))


def test_a_part_may_need_options(tmp_path: Path) -> None:
    distrl.register_device("remote", Remote)
    distrl.register_algorithm("discounted", discounted)
    words = ("devices.kind=remote", "devices.options.url=phones.example")
    made = make_registered(tiny_config(tmp_path, tmp_path, *words).devices, "phone-0")
    assert isinstance(made, Remote)
    assert made.url == "phones.example"
    without = tiny_config(tmp_path, tmp_path, "devices.kind=remote").devices
    with pytest.raises(InvalidPlugin, match="missing 1 required positional argument: 'url'"):
        make_registered(without, "phone-0")


def set_up(device: Any, name: str) -> None:
    device.name, device.seconds, device.blocking = name, 0.0, True


class Helped(Nameless):
    """Its attributes are set by a function, and no line of the class names them."""

    def __init__(self, name: str) -> None:
        set_up(self, name)


def test_attributes_may_be_set_in_any_way(tmp_path: Path) -> None:
    distrl.register_device("own", Helped)  # type: ignore[arg-type]
    settings = tiny_config(tmp_path, tmp_path, "devices.kind=own").devices
    made = make_registered(settings, "phone-0")
    assert (made.name, made.seconds, made.blocking) == ("phone-0", 0.0, True)


class Lost(Nameless):
    def __init__(self, name: str) -> None:
        self.name = name


class LostAlgorithm:
    def __init__(self, step: Any) -> None:
        self.draws = "uniform"

    def update(self, batch: Batch, *, policy_moves: bool = True) -> None: ...


def test_what_is_made_is_looked_at(tmp_path: Path) -> None:
    distrl.register_device("lost", Lost)  # type: ignore[arg-type]
    settings = tiny_config(tmp_path, tmp_path, "devices.kind=lost").devices
    with pytest.raises(InvalidPlugin, match="which lacks seconds, blocking; docs/add-a-device"):
        make_registered(settings, "phone-0")
    distrl.register_algorithm("lost", LostAlgorithm)  # type: ignore[arg-type]
    config = tiny_config(tmp_path, tmp_path, "learning.algorithm=lost")
    with pytest.raises(InvalidPlugin, match="which lacks discount; docs/add-an-algorithm"):
        wiring.make_registered(object(), config.learning, None)  # type: ignore[arg-type]


def test_a_part_without_a_name_is_refused_by_what_it_is() -> None:
    with pytest.raises(InvalidPlugin, match=r"'hello' is no task\. Expected: a distrl"):
        distrl.register_task("hello")
    with pytest.raises(InvalidPlugin, match=r"3 is no dialect\. Expected"):
        distrl.register_dialect(3)  # type: ignore[arg-type]
