"""What a store has let go of stays known, wherever its writer was killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.replay.store.dropped_ids import NAME, DroppedIds
from distrl.replay.store.segment import PREAMBLE, preamble


def test_what_is_remembered_is_recalled(tmp_path: Path) -> None:
    DroppedIds(tmp_path).remember(1, ["a", "b"])
    DroppedIds(tmp_path).remember(2, ["ü"])
    recalled = DroppedIds(tmp_path).recall()
    assert (recalled.segments, recalled.ids, recalled.damages) == ({1, 2}, ["a", "b", "ü"], [])


@pytest.mark.parametrize("written", range(PREAMBLE.size))
@pytest.mark.parametrize("recalled_first", [True, False])
def test_killed_while_the_file_was_begun(
    tmp_path: Path, written: int, recalled_first: bool
) -> None:
    """The file is there, its preamble is not, or not all of it."""
    (tmp_path / NAME).write_bytes(preamble()[:written])
    if recalled_first:
        assert DroppedIds(tmp_path).recall().ids == []
    DroppedIds(tmp_path).remember(1, ["a"])
    assert DroppedIds(tmp_path).recall().ids == ["a"]
    assert DroppedIds(tmp_path).recall().ids == ["a"]


def test_a_torn_end_is_cut_and_the_rest_stays(tmp_path: Path) -> None:
    DroppedIds(tmp_path).remember(1, ["a"])
    whole = (tmp_path / NAME).read_bytes()
    DroppedIds(tmp_path).remember(2, ["b"])
    longer = (tmp_path / NAME).read_bytes()
    for end in range(len(whole), len(longer)):
        (tmp_path / NAME).write_bytes(longer[:end])
        assert DroppedIds(tmp_path).recall().ids == ["a"]
        assert (tmp_path / NAME).read_bytes() == whole
