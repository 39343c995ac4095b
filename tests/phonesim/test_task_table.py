"""`distrl tasks` prints the names of templates whole, however narrow the output is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from distrl.errors import UsageError
from phonesim.cli import task_table
from phonesim.tasks.task_sets import templates


@pytest.mark.parametrize("width", [80, 100, 200])
def test_names_are_whole(width: int) -> None:
    text = io.StringIO()
    Console(file=text, width=width).print(task_table("shopping", None))
    shopping = [name for name, each in templates().items() if each.family == "shopping"]
    words = set(text.getvalue().split())
    assert shopping
    assert set(shopping) <= words


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(UsageError, match="general, shopping"):
        task_table("garden", None)
    with pytest.raises(UsageError, match="no split called 'exam'"):
        task_table(None, "exam")
