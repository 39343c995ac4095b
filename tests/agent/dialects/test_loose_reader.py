"""The loose reader: JSON as JSON has it, and what is forgiven besides."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distrl.agent.dialects.loose_reader import DEEPEST, LooseReader, Number, Value, unescaped
from distrl.errors import InvalidAction

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_HARD = st.sampled_from(['"', "\\", ", ", '", "a": ', "</", "```", "'", "}", "]", "“", "\n", ": "])
_STRING = st.lists(_TEXT | _HARD, max_size=3).map("".join)
_LEAF = _STRING | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()
_JSON = st.recursive(
    _LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_STRING, inner, max_size=3),
    max_leaves=6,
)


def _strict(text: str) -> Value:
    value: Value = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)
    return value


def _deep(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_deep, inner), default=0)


@settings(max_examples=10 * settings().max_examples)
@given(value=st.dictionaries(_STRING, _JSON, max_size=4), ascii_only=st.booleans())
@pytest.mark.slow
def test_json_is_read_as_json_has_it(value: dict[str, Any], ascii_only: bool) -> None:
    if _deep(value) > DEEPEST or "Infinity" in json.dumps(value):
        return
    for separators in ((", ", ": "), (",", ":")):
        text = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
        assert LooseReader(text).value() == _strict(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'b'}", {"a": "b"}),
        ("{a: b,}", {"a": "b"}),
        ("{“a”：“b”，“c”：「d」}", {"a": "b", "c": "d"}),
        ("[None, True, null, false]", [None, True, None, False]),
        ("(1, 2.5, -3e4)", [Number("1"), Number("2.5"), Number("-3e4")]),
        ('{"a": "b" "c": "d"}', {"a": "b", "c": "d"}),
        ('{"a": {"b": "c"', {"a": {"b": "c"}}),
        ('{"a": ["b"], ', {"a": ["b"]}),
        ('{"a": "say "b", he said"}', {"a": 'say "b", he said'}),
        ('{"a": "b"</tool_call>', {"a": "b"}),
        ("{'a': 'it's', 'b': 'c'}", {"a": "it's", "b": "c"}),
        ('["a\nb"]', ["a\nb"]),
        ("[<point>1 2</point>]", ["<point>1 2</point>"]),
    ],
)
def test_forgiven(text: str, value: Value) -> None:
    assert LooseReader(text).value() == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('["a", "b', "middle of a text"),
        ('["a", ', "middle of a list"),
        ('["a", 12', "middle of '12'"),
        ('{"a": tru', "middle of 'tru'"),
        ('{"a": 12px}', "stands where a value belongs"),
        ('{"a" "b"}', "no colon|middle of a text"),
        ("{1: 2}", "stands where a name belongs"),
        ('{"a": 1 2}', "stands where a comma belongs"),
        ("[" * 20 + "]" * 20, "nested more than"),
        ("", "it ends where a value belongs"),
    ],
)
def test_not_forgiven(text: str, reason: str) -> None:
    with pytest.raises(InvalidAction, match=reason):
        LooseReader(text).value()


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (")", {}),
        ("", {}),
        ("a='b', c=[1,2])", {"a": "b", "c": [Number("1"), Number("2")]}),
        ("2, 'b')", {"0": Number("2"), "1": "b"}),
        ("a=b, c = (1, 2)) and so on", {"a": "b", "c": [Number("1"), Number("2")]}),
        ('text="say "b", c")', {"text": 'say "b", c'}),
        ('text="a, b=c"）', {"text": "a, b=c"}),
    ],
)
def test_arguments_of_a_call(text: str, arguments: dict[str, Value]) -> None:
    assert LooseReader(text).arguments() == arguments


def test_escapes_of_both_languages() -> None:
    assert unescaped(r"\n\t\"\'\\\/\u00e9\x41\ud83d\ude00\d") == "\n\t\"'\\/éA😀\\d"
    assert unescaped(r"\ud83d") == "\ud83d"
    assert unescaped("\\") == "\\"
