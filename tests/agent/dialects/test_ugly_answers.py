"""The collection of ugly answers: what is meant is found, and what is not meant is not guessed."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from tests.agent.dialects.ugly_answers import UGLY, Ugly

from distrl.agent.dialects import dialect_named
from distrl.agent.dialects.dialect import ImageSize
from distrl.records import LongPress, Swipe, Tap, Unreadable

PICTURE = ImageSize(1000, 2000)


@pytest.mark.parametrize("ugly", UGLY, ids=lambda ugly: f"{ugly.dialect}-{ugly.answer!r:.40}")
def test_an_ugly_answer_is_read_as_it_is_meant(ugly: Ugly) -> None:
    read = dialect_named(ugly.dialect).read(ugly.answer, PICTURE)
    if isinstance(ugly.meant, str):
        assert isinstance(read, Unreadable), read
        assert ugly.meant in read.reason
        assert read.text == ugly.answer
    else:
        assert type(read) is type(ugly.meant), read
        assert astuple(read) == pytest.approx(astuple(ugly.meant)), read


@pytest.mark.parametrize("ugly", UGLY, ids=lambda ugly: f"{ugly.dialect}-{ugly.answer!r:.40}")
def test_an_answer_in_another_dialect_touches_nothing(ugly: Ugly) -> None:
    """Its numbers would mean another place, so its words must not fit by chance."""
    families = {"aitw", "android_world", "qwen2_5_vl", "ui_tars_1_5", "autoglm", "compact"}
    for name in families - {ugly.dialect}:
        assert not isinstance(
            dialect_named(name).read(ugly.answer, PICTURE), Tap | LongPress | Swipe
        )


def test_the_collection_is_large_and_on_both_sides() -> None:
    refused = [ugly for ugly in UGLY if isinstance(ugly.meant, str)]
    assert len(UGLY) > 200
    assert 80 < len(refused) < len(UGLY) - 80
