"""Plain tables into records: complete, strict, nested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest

from distrl.bounds import Bounds
from distrl.config.typed_reader import plant, read_section, setting_names
from distrl.errors import InvalidSetting


@dataclass(frozen=True, slots=True)
class Step:
    action: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    name: str
    steps: tuple[Step, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    level: Literal["turn"] | Literal["none"] = "turn"
    share: Annotated[float, Bounds(0.0, 1.0)] = 0.5


def read(table: Mapping[str, object]) -> Recording:
    tree = {name: plant(value, "line 1") for name, value in table.items()}
    return read_section(Recording("", ()), tree)


def test_records_within_records_are_read() -> None:
    table = {
        "name": "first",
        "steps": [{"action": "tap", "value": 1}, {"action": "back", "value": None}],
        "counts": {"taps": 1},
        "level": "none",
    }
    assert read(table) == Recording("first", (Step("tap", 1.0), Step("back")), {"taps": 1}, "none")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"name": "a", "steps": [{}]}, "steps[0].action is missing"),
        ({"name": "a", "steps": [{"action": 3}]}, "steps[0].action=3 (line 1): give a text"),
        (
            {"name": "a", "steps": [], "counts": {"taps": 1.5}},
            "counts.taps=1.5 (line 1): give a whole number",
        ),
        ({"name": "a", "steps": [], "counts": 3}, "counts=3 (line 1): give a table, each"),
        ({"name": "a", "steps": [], "level": "token"}, "level='token' (line 1): give turn or none"),
        ({"name": "a", "steps": [], "share": 1.1}, "share=1.1 (line 1): give a number, 0 to 1"),
        ({"name": "a", "steps": [], "shape": 1}, "unknown setting shape (line 1); did you mean"),
    ],
)
def test_what_is_no_such_record_is_refused(table: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        read(table)
    assert str(refused.value).startswith(said)


def test_a_choice_of_another_type_is_no_choice() -> None:
    @dataclass(frozen=True)
    class Switch:
        on: int = 0

    with pytest.raises(InvalidSetting, match="on=True"):
        read_section(Switch(), {"on": plant(True, "line 1")})


def test_settings_are_listed_by_their_full_names() -> None:
    assert list(setting_names(Recording)) == ["name", "steps", "counts", "level", "share"]
