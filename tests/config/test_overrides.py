"""Changes of settings by a script: words, one word, and dicts are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distrl.api import load_config
from distrl.config.overrides import override_words
from distrl.errors import InvalidSetting


@pytest.mark.parametrize(
    "given",
    [
        "run.minutes=2",
        ["run.minutes=2"],
        {"run.minutes": 2},
        {"run": {"minutes": 2.0}},
        {"run.minutes": np.float64(2.0)},
    ],
)
def test_one_change_in_many_ways(given: Any) -> None:
    assert load_config("quick_start", given).run.minutes == 2.0


def test_values_of_every_kind_arrive_as_they_are() -> None:
    given = {
        "run": {"directory": Path("some where"), "name": "true"},
        "tasks.templates": ["browser.open*", "notes.unarchive"],
        "evaluation.after": 0,
        "collection.stop_on_success": True,
        "run.updates": None,  # "none" on the command line
        "devices": {"kind": "simulated", "options": {}},
    }
    config = load_config("quick_start", given)
    assert (config.run.directory, config.run.name) == ("some where", "true")
    assert config.tasks.templates == ("browser.open*", "notes.unarchive")
    assert (config.evaluation.after, config.collection.stop_on_success) == (0, True)
    assert config.run.updates is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "3 changes no setting: give words such as 'devices.count=4', or a dict"),
        ([3], "3 changes no setting"),
        ({"devices.count": object()}, "devices.count=<object"),
        ({"devices.counts": 4}, "devices.count"),
    ],
)
def test_what_changes_nothing_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        load_config("quick_start", given)


def test_words_are_left_as_they_are() -> None:
    assert override_words(("a.b=c d", "e=1")) == ["a.b=c d", "e=1"]
