"""Changes of settings by a script: words, one word, and dicts are the same."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.plugin_package.src.distrl_quiet.reinforce import Reinforce

import distrl
from distrl import plugins
from distrl.api import load_config
from distrl.config.overrides import override_words
from distrl.config.toml_writer import to_toml
from distrl.config.training_config import TrainingConfig, load_joined_config
from distrl.errors import InvalidSetting
from phonesim.simulated_device import SimulatedDevice


@pytest.mark.parametrize(
    "given",
    [
        "run.minutes=2",
        ["run.minutes=2"],
        {"run.minutes": 2},
        {"run": {"minutes": 2.0}},
        {"run.minutes": np.float64(2.0)},
        {"run.minutes": np.float32(2.0)},
        {"run.minutes": np.int64(2)},
        {"run.minutes": Fraction(2)},
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


NAMES = {"Amazon.com": "x.y", 'a "b" = c\\': "z", "1 ä": "w"}


def test_names_of_ones_own_may_have_dots_and_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In free tables, whichever way one gets there; the file's other names stay."""
    for given in (
        {"devices.android.app_names": NAMES},
        {"devices": {"android": {"app_names": NAMES}}},
        override_words({"devices.android": {"app_names": NAMES}}),
    ):
        assert load_config(None, given).devices.android.app_names == NAMES
    monkeypatch.setattr(plugins, "_registry", plugins._Registry())
    distrl.register_device("own", SimulatedDevice)
    distrl.register_algorithm("own", Reinforce)
    options = {"devices": {"kind": "own", "options": {"a.b": "c"}}}
    learning = {"learning.algorithm": "own", "learning.options": {"rate.first": np.float32(0.5)}}
    environments = {"environments.phones.devices": options["devices"]}
    assert load_config(None, options).devices.options == {"a.b": "c"}
    assert load_config(None, learning).learning.options == {"rate.first": 0.5}
    assert load_config(None, environments).environments["phones"].devices.options == {"a.b": "c"}
    words = ["devices.android.app_names.Clock=a.b", 'devices.android.app_names."B.c"=d']
    assert load_config(None, words).devices.android.app_names == {"Clock": "a.b", "B.c": "d"}


def test_a_collector_that_joins_keeps_names_with_dots(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[devices.android.app_names]\n"Amazon.com" = "x.y"\n', "utf-8")
    joined = load_joined_config(to_toml(TrainingConfig()), 0, own)
    assert joined.devices.android.app_names == {"Amazon.com": "x.y"}


@pytest.mark.parametrize(
    "word", ['a."b=1', 'a."b"c=1', "a..b=1", ".a=1", "a.=1", "=1", 'a."\\q"=1']
)
def test_a_word_without_a_name_is_refused(word: str) -> None:
    with pytest.raises(InvalidSetting, match="give a setting and its value"):
        load_config("quick_start", word)


def test_words_are_left_as_they_are() -> None:
    assert override_words(("a.b=c d", "e=1")) == ["a.b=c d", "e=1"]
