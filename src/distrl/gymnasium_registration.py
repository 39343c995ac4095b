"""Makes `gymnasium.make("distrl/Phone-General-v0")` work after a plain `import distrl`.

Gymnasium no longer looks for plug-ins by itself, and `import distrl` must stay light, so neither
may import the other. Instead our environments are registered the moment gymnasium is there: at
once if somebody has imported it already, otherwise right after somebody does.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

FAMILIES = {"General": "general", "Shopping": "shopping"}


def register_environments() -> None:
    """Tell gymnasium about our environments, by name only; nothing of them is imported yet."""
    import gymnasium

    for title, family in FAMILIES.items():
        environment = f"distrl/Phone-{title}-v0"
        if environment not in gymnasium.registry:
            gymnasium.register(
                id=environment,
                entry_point="distrl.episodes.gymnasium_env:PhoneEnv",
                kwargs={"family": family},
            )


class _GymnasiumWatch(MetaPathFinder):
    """Waits for the first import of gymnasium, then removes itself."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_then_register(module: ModuleType) -> None:
            execute(module)
            register_environments()

        setattr(spec.loader, "exec_module", execute_then_register)  # noqa: B010
        return spec


def register_when_ready() -> None:
    """Register now, or as soon as gymnasium is imported."""
    if "gymnasium" in sys.modules:
        register_environments()
    else:
        sys.meta_path.insert(0, _GymnasiumWatch())
