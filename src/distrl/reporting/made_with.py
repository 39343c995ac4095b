"""Describe what a run was made with, from its `card.json`, for the report and `distrl view`."""

from __future__ import annotations

from typing import Any

import msgspec

from distrl.runs.run_directory import RunDirectory

COMMIT_DIGITS = 12


def made_with(run: RunDirectory) -> dict[str, str]:
    """Return texts by topic (code, machine, GPU, packages, …); empty for a run without a card."""
    try:
        card = msgspec.json.decode((run.path / "card.json").read_bytes())
    except (OSError, ValueError, RecursionError, msgspec.DecodeError):
        return {}
    if not isinstance(card, dict):
        return {}
    machine, packages = _table(card, "machine"), _table(card, "packages")
    parts = [machine.get("system"), _counted(machine, "cores"), _counted(machine, "memory_gb")]
    found = {
        "code": _code(card),
        "machine": ", ".join(part for part in parts if part),
        "GPU": str(machine.get("gpu") or "none"),
        "Python": str(card.get("python", "")),
        "packages": ", ".join(f"{name} {version}" for name, version in packages.items()),
        "plug-ins": ", ".join(map(str, _list(card, "plugins"))),
        "settings": str(card.get("settings", "")),
        "model": str(card.get("model", "")),
    }
    return {name: words for name, words in found.items() if words}


def _code(card: dict[str, Any]) -> str:
    commit = str(card.get("commit", ""))[:COMMIT_DIGITS]
    state = ", with changes" if card.get("clean") is False else ""
    where = f"commit {commit}{state}" if commit else "no checkout"
    return f"distrl {card.get('version', '')}, {where}"


def _list(card: dict[str, Any], name: str) -> list[Any]:
    found = card.get(name)
    return found if isinstance(found, list) else []


def _table(card: dict[str, Any], name: str) -> dict[str, Any]:
    found = card.get(name)
    return found if isinstance(found, dict) else {}


def _counted(machine: dict[str, Any], name: str) -> str:
    units = {"cores": "cores", "memory_gb": "GB of memory"}
    return f"{machine[name]} {units[name]}" if name in machine else ""
