"""Settings by name: each of ours loads, says what it is for, and a file of the name comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.config.config_file import (
    PLANS,
    config_names,
    config_path,
    config_words,
    found_config,
)
from distrl.config.training_config import load_config
from distrl.errors import InvalidSetting
from distrl.planning.plan_settings import load_plan
from distrl.reporting.memory_estimate import estimate_disk

WANTED = {
    "quick_start", "qwen2_5_vl_3b_one_gpu", "qwen3_vl_4b_one_gpu", "qwen2_5_vl_7b_four_gpus",
    "handsets", "emulators", "cluster",
}  # fmt: skip


def test_what_people_start_from_is_there() -> None:
    assert set(config_names()) >= WANTED


@pytest.mark.parametrize("name", config_names())
def test_each_loads_and_says_what_it_is_for(name: str) -> None:
    config = load_config(Path(name))
    assert config.run.name in name
    assert len(config_words(name)) > 40
    assert estimate_disk(config) > 0


def test_plans_are_found_by_name() -> None:
    assert [load_plan(Path(name)).phones.kind for name in config_names(PLANS)]


def test_a_file_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quick_start").write_text("[run]\nminutes = 7.0\n", "utf-8")
    assert load_config(Path("quick_start")).run.minutes == 7.0
    assert found_config(Path("cluster")) == config_path("cluster")


def test_a_name_that_is_none_says_what_is_like_it() -> None:
    with pytest.raises(InvalidSetting, match=r"no config file handset.*did you mean handsets\?"):
        load_config(Path("handset"))
    with pytest.raises(InvalidSetting, match=r"no config file handsets\.tml"):
        load_config(Path("handsets.tml"))
