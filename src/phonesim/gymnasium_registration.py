"""The ids of the phone's Gymnasium environments, registered without importing the environments.

`gymnasium.make("phonesim.gymnasium_env:Phone-General-v0")` always works: `make` imports the module
before the colon, and that module registers the ids. `phonesim/__init__` and `distrl/__init__` also
register them if gymnasium was imported first, so `gymnasium.make("phonesim:Phone-General-v0")` and
plain `gymnasium.make("Phone-General-v0")` work after `import gymnasium, phonesim`. In the other
order they cannot: Python does not run a module twice, and `gymnasium.register_envs` does nothing.
"""

from __future__ import annotations

import gymnasium

FAMILIES = {"General": "general", "Shopping": "shopping", "Everyday": "everyday"}


def register_environments() -> None:
    """Register `Phone-General-v0` and its siblings, with and without `distrl/` before."""
    for title, family in FAMILIES.items():
        for name in (f"Phone-{title}-v0", f"distrl/Phone-{title}-v0"):
            if name not in gymnasium.registry:
                gymnasium.register(
                    id=name,
                    entry_point="phonesim.gymnasium_env:PhoneEnv",
                    kwargs={"family": family},
                )
