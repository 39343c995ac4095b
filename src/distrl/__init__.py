"""DistRL: asynchronous, distributed reinforcement learning for agents that operate phones.

`__all__` is the public API, which docs/api.md describes; everything else may change between
versions. Importing this package is fast: it imports no numpy, torch, Ray or plotting library. A
name of the API is loaded when it is first used. If gymnasium has already been imported, the phone's
environments are registered with it: see `phonesim.gymnasium_registration`.
"""

import importlib
import sys

__version__ = "0.1.0"

TYPE_CHECKING = False  # type checkers treat it like typing's, whose import would be slow

if TYPE_CHECKING:
    from distrl.api import (
        build_collector,
        build_devices,
        build_engine,
        build_learner,
        build_policy,
        build_tasks,
        collect,
        evaluate,
        load_config,
        play,
        resume,
        train,
    )
    from distrl.config.training_config import TrainingConfig
    from distrl.plugins import (
        register_algorithm,
        register_app,
        register_device,
        register_dialect,
        register_judge,
        register_model_family,
        register_reward,
        register_step_view,
        register_task,
    )

__all__ = [
    "TrainingConfig", "build_collector", "build_devices", "build_engine", "build_learner",
    "build_policy", "build_tasks", "collect", "evaluate", "load_config", "play",
    "register_algorithm", "register_app", "register_device", "register_dialect", "register_judge",
    "register_model_family", "register_reward", "register_step_view", "register_task", "resume",
    "train",
]  # fmt: skip


def _home(name: str) -> str:
    """Return the module that defines a name of the API."""
    if name == "TrainingConfig":
        return "distrl.config.training_config"
    return "distrl.plugins" if name.startswith("register_") else "distrl.api"


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'distrl' has no {name!r}; it has {', '.join(__all__)}")
    try:
        found: object = getattr(importlib.import_module(_home(name)), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("distrl"):
            raise
        from distrl.errors import INSTALL_LEARN, NotInstalled

        raise NotInstalled(
            f"distrl.{name} needs the package {error.name!r}: {INSTALL_LEARN}"
        ) from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if sys.modules.get("gymnasium"):  # a None entry in sys.modules means that imports are blocked
    from phonesim.gymnasium_registration import register_environments

    register_environments()
