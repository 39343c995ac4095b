"""Actions that are one word, with no place and no text: what models call them, and what we do."""

from __future__ import annotations

from distrl.agent.dialects.fields import plain
from distrl.errors import InvalidAction
from distrl.records import Action, Back, Done, Enter, Home, Impossible

_KEYS: dict[str, Action] = {
    "back": Back(), "return": Back(),
    "home": Home(),
    "enter": Enter(),
}  # fmt: skip
_OUTCOMES: dict[str, Action] = {
    "complete": Done(), "completed": Done(), "success": Done(), "successful": Done(),
    "done": Done(), "finished": Done(),
    "infeasible": Impossible(), "impossible": Impossible(), "failure": Impossible(),
    "failed": Impossible(), "fail": Impossible(), "incomplete": Impossible(),
}  # fmt: skip


def key(name: str) -> Action:
    """The key or system button of a name such as "Back", "enter" or KEYCODE_HOME."""
    action = _KEYS.get(plain(name).removeprefix("keycode"))
    if action is None:
        raise InvalidAction(f"there is no key {name[:40]!r}, only back, home and enter")
    return action


def outcome(word: str) -> Action:
    """What an agent says of its task at the end."""
    action = _OUTCOMES.get(plain(word))
    if action is None:
        raise InvalidAction(f"{word[:40]!r} says neither that it is done nor that it cannot be")
    return action
