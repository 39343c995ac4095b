"""A module that needs an extra says so in a sentence, where the extra is not installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

IMPORTING = """
import sys
sys.modules["{package}"] = None  # as if it were not installed
from distrl.errors import NotInstalled
try:
    import {module}
except NotInstalled as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("package", "module", "extra"),
    [
        ("gymnasium", "phonesim.gymnasium_env", "gym"),
        ("gymnasium", "distrl.environments.device_env", "gym"),
        ("android_env", "distrl.devices.android_env.android_env_device", "android-env"),
        ("verifiers", "distrl.environments.verifiers_environment", "verifiers"),
        ("verifiers", "distrl_phone", "verifiers"),
        ("openenv", "distrl.environments.openenv_environment", "openenv"),
        ("cube", "distrl.environments.cube_benchmark", "cube"),
    ],
)
def test_a_missing_package_names_its_extra(package: str, module: str, extra: str) -> None:
    code = IMPORTING.format(package=package, module=module)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"'distrl[{extra}]'" in said.stdout


@pytest.mark.skipif(find_spec("gymnasium") is None, reason="distrl[gym] is not installed")
def test_a_device_of_your_own_needs_no_torch_and_settings_name_what_they_need() -> None:
    code = (
        "import sys\nsys.modules['torch'] = None\n"
        "from distrl.environments import device_env\nfrom distrl.errors import NotInstalled\n"
        "try: device_env.open_device_env('quick_start')\nexcept NotInstalled as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'distrl[learn]'" in said.stdout
