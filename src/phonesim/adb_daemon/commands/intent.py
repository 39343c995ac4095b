"""Parse an Android intent from the words of `am`: `-a ACTION -d DATA -n PACKAGE/CLASS -e k v`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from phonesim.adb_daemon.result import Refusal

ONE_VALUE = {
    "-a": "action", "-d": "data", "-n": "component", "-p": "package", "-t": "type",
    "-c": "category", "-i": "identifier",
}  # fmt: skip
EXTRAS = {
    "-e", "--es", "--ei", "--ez", "--el", "--ef", "--eu", "--ecn", "--eia", "--ela", "--efa",
    "--esa", "--esal",
}  # fmt: skip
TWO_WORDS = {"-f", "--user", "--receiver-permission", "-R", "--display", "--windowingMode"}
FLAGS = {"-W", "-S", "-D", "-N", "--async", "--esn"}


@dataclass(slots=True)
class Intent:
    """An Android intent: its parts (action, data, component, …), extras and flags."""

    parts: dict[str, str] = field(default_factory=dict)
    extras: dict[str, str] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)

    def part(self, name: str) -> str:
        return self.parts.get(name, "")

    def __str__(self) -> str:
        named = {"action": "act", "data": "dat", "component": "cmp", "package": "pkg"}
        words = [f"{short}={self.parts[name]}" for name, short in named.items() if self.part(name)]
        if self.part("category"):
            words.insert(1 if self.part("action") else 0, f"cat=[{self.part('category')}]")
        return "Intent { " + " ".join(words) + (" (has extras) }" if self.extras else " }")


def read_intent(words: Sequence[str]) -> Intent:
    intent, rest = Intent(), list(words)
    while rest:
        word = rest.pop(0)
        if word in ONE_VALUE:
            intent.parts[ONE_VALUE[word]] = _value(word, rest)
        elif word in EXTRAS:
            key = _value(word, rest)
            intent.extras[key] = _value(word, rest)
        elif word in TWO_WORDS:
            _value(word, rest)
        elif word in FLAGS or word.startswith(("--activity-", "--include", "--exclude")):
            intent.flags.add(word)
            if word == "--esn":
                intent.extras[_value(word, rest)] = ""
        elif word.startswith("-"):
            raise Refusal(f"Error: Unknown option: {word[:40]}", 255)
        else:
            _bare(intent, word)
    return intent


def _value(option: str, rest: list[str]) -> str:
    if not rest:
        raise Refusal(f'Error: Argument expected after "{option}"', 255)
    return rest.pop(0)


def _bare(intent: Intent, word: str) -> None:
    """Add a word without an option: a URI, a component or a package."""
    if ":" in word:
        intent.parts.setdefault("data", word)
    elif "/" in word:
        intent.parts.setdefault("component", word)
    elif word:
        intent.parts.setdefault("package", word)
