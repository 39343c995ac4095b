"""Every index is one task of its split, the same in every process."""

from __future__ import annotations

import pytest

from distrl.environments.task_index import SPLITS, task_at, task_count
from distrl.errors import UnknownTask
from distrl.records import Split
from phonesim.tasks.task_sets import template_names


@pytest.mark.parametrize("split", SPLITS)
def test_every_index_is_a_task_of_its_split(split: Split) -> None:
    last = task_count(split) - 1
    assert task_at(split, 0) != task_at(split, 1) != task_at(split, last)
    assert f"/{split}/" in task_at(split, last)
    for outside in (-1, last + 1):
        with pytest.raises(IndexError, match=f"0 to {last}"):
            task_at(split, outside)


@pytest.mark.parametrize("split", SPLITS)
def test_a_range_of_indices_is_spread_over_all_templates(split: Split) -> None:
    names = template_names(split)
    for first in (0, len(names)):
        found = [task_at(split, first + at) for at in range(len(names))]
        assert [each.split("/")[0] for each in found] == list(names)
    assert found[0] == f"{names[0]}/{split}/1"


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(UnknownTask, match="give train, test"):
        task_count("trian")
    with pytest.raises(UnknownTask, match="give train, test"):
        task_at("trian", 0)
