"""DistRL: asynchronous, distributed reinforcement learning for agents that operate phones.

`__all__` is the public API, which docs/api.md describes; everything else may move from one version
to the next. Importing this package is light: no numpy, no torch, no Ray, no drawing. A name of the
API is loaded when it is first used. If gymnasium has been imported already, the phone's
environments are registered with it: see `phonesim.gymnasium_registration`.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from distrl.plugins import (
        register_algorithm,
        register_device,
        register_dialect,
        register_judge,
        register_model_family,
        register_reward,
        register_task,
    )

__all__ = [
    "register_algorithm", "register_device", "register_dialect", "register_judge",
    "register_model_family", "register_reward", "register_task",
]  # fmt: skip

_HOMES = dict.fromkeys(__all__, "distrl.plugins")  # name: the module that has it


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'distrl' has no {name!r}; it has {', '.join(__all__)}")
    found = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if sys.modules.get("gymnasium"):  # None: importing it is forbidden
    from phonesim.gymnasium_registration import register_environments

    register_environments()
