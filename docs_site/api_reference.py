"""Generate the page of all public names, with signatures and docstrings, by mkdocstrings."""

from __future__ import annotations

import distrl

INTRODUCTION = """# API, name by name

Made from the code. [The Python API](../api.md) shows how they go together; each is imported as
`distrl.NAME`.
"""
GROUPS: dict[str, tuple[str, ...]] = {
    "Settings": ("load_config", "TrainingConfig"),
    "Whole runs": ("train", "resume", "collect", "evaluate", "play"),
    "Parts": (
        "build_devices", "build_tasks", "build_policy", "build_learner", "build_collector",
        "build_engine",
    ),
    "Parts of your own": tuple(each for each in distrl.__all__ if each.startswith("register_")),
}  # fmt: skip
RETURNED = {
    "distrl.api": ("Run", "Evaluation", "Engine"),
    "distrl.records": ("Task", "Observation", "Decision", "Trajectory", "Verdict", "Ending"),
}


def api_page() -> str:
    parts = [INTRODUCTION]
    for title, names in GROUPS.items():
        parts += [f"## {title}\n", *(_entry(f"{distrl._home(name)}.{name}") for name in names)]
    parts.append("## What they take and return\n")
    parts += [_entry(f"{module}.{name}") for module, names in RETURNED.items() for name in names]
    return "\n".join(parts)


def _entry(path: str) -> str:
    return f"::: {path}\n    options:\n      heading_level: 3\n"
