"""The list of dialects."""

from __future__ import annotations

import pytest

from distrl.agent.dialects import DIALECTS, dialect_named
from distrl.errors import InvalidSetting


def test_the_dialects_go_by_their_names() -> None:
    assert set(DIALECTS) == {
        "compact", "aitw", "android_world", "qwen2_5_vl", "qwen3_vl", "ui_tars", "ui_tars_1_5",
        "autoglm", "elements",
    }  # fmt: skip
    assert all(dialect_named(name).name == name for name in DIALECTS)


def test_a_wrong_name_gets_the_right_ones() -> None:
    with pytest.raises(InvalidSetting, match=r"'qwen'.*qwen2_5_vl, qwen3_vl") as refused:
        dialect_named("qwen")
    assert all(name in str(refused.value) for name in DIALECTS)
