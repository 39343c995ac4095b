"""Finds the action in a model's whole output: after the thoughts, in a tag or in a code fence.

Output that begins with an action is taken as it is, so that text to be typed may contain anything,
even the tags that are searched for here. Failures are `InvalidAction` with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from distrl.agent.dialects.fields import plain
from distrl.agent.dialects.loose_reader import LooseReader, Value, unescaped
from distrl.errors import InvalidAction

MAX_CHARACTERS = 50_000  # longer outputs are rejected unsearched
MAX_ATTEMPTS = 20  # candidate starts of an action that are tried

_END_OF_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_ACTION_LABEL = re.compile(
    r"^[ \t*#>-]*Action[ \t]{0,3}\*{0,2}[ \t]{0,3}[:：]\*{0,2}", re.IGNORECASE | re.MULTILINE
)
_BRACE = re.compile(r"\{(?=\s*[\"'“”‘’「}\w])")


def without_thoughts(text: str, openings: tuple[str, ...]) -> str:
    """Return the output after its thoughts, or all of it if it begins with one of `openings`."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidAction(
            f"it has {len(text):,} characters; an answer has {MAX_CHARACTERS:,} at most"
        )
    if text.lstrip().startswith(openings):
        return text
    ends = [match.end() for match in _END_OF_THOUGHT.finditer(text)]
    answer = text[ends[-1] :] if ends else text
    if _THOUGHT.search(answer):
        raise InvalidAction("it is all thought: there is no </think>, and no action after it")
    return answer


def after_action_label(text: str) -> str:
    """Return what follows the first "Action:" at the start of a line, or else the whole text."""
    label = _ACTION_LABEL.search(text)
    return text[label.end() :] if label else text


def first_object(text: str, names: Collection[str]) -> dict[str, Value]:
    """Return the first JSON object that has a member with one of these `plain` names."""
    reasons = []
    for _, brace in zip(range(MAX_ATTEMPTS), _BRACE.finditer(text), strict=False):
        try:
            members = LooseReader(text, brace.end()).members()
        except InvalidAction as error:
            reasons.append(str(error))
            continue
        if any(plain(name) in names for name in members):
            return members
        reasons.append(f"there is no {' or '.join(names)} in its JSON")
    if not reasons and '{\\"' in text:  # JSON as an escaped string within JSON
        return first_object(unescaped(text), names)
    raise InvalidAction(reasons[0] if reasons else "there is no JSON object in it")


def first_call(text: str, beginning: re.Pattern[str]) -> tuple[str, dict[str, Value]]:
    """Return name and arguments of the first call that can be parsed; `beginning` matches a name
    (its first group) and the opening bracket.
    """
    reasons = []
    for _, call in zip(range(MAX_ATTEMPTS), beginning.finditer(text), strict=False):
        try:
            return call.group(1), LooseReader(text, call.end()).arguments()
        except InvalidAction as error:
            reasons.append(str(error))
    raise InvalidAction(reasons[0] if reasons else "there is no action in it")
