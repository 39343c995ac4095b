"""What docs/add-a-device.md says about adding a kind of device is true."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from distrl.config.contradictions import TASK_SOURCES
from distrl.devices.device import Device
from distrl.engine.device_wiring import KINDS
from distrl.errors import DeviceNotReady
from distrl.plugin_shape import BUILT_IN
from distrl.records import Done, OpenApp

PAGE = Path(__file__).parents[2] / "docs" / "add-a-device.md"


@pytest.fixture
def device_class(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Device]:
    """The class in the first example of the page."""
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    module = types.ModuleType("grayscale_device")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    found: Callable[[str], Device] = module.__dict__["GrayscaleDevice"]
    return found


def test_the_example_keeps_the_contract(device_class: Callable[[str], Device]) -> None:
    with device_class("phone") as device:
        with pytest.raises(DeviceNotReady):
            device.screen()
        device.reset(3)
        first = device.screen()
        assert np.ptp(first.pixels, axis=2).max() == 0  # no colour
        assert np.ptp(first.pixels) > 0  # and not blank
        assert device.perform(OpenApp("Settings")).digest != first.digest
        spent = device.seconds
        device.perform(Done())
        assert device.seconds == spent
        device.reset(3)
        assert device.screen().digest == first.digest


def test_every_kind_has_its_rows() -> None:
    assert set(KINDS) == set(TASK_SOURCES) == set(BUILT_IN["device"])
