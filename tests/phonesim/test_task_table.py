"""`distrl tasks` prints the names of templates whole, however narrow the output is."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.errors import UsageError
from phonesim.cli import task_rows, task_table
from phonesim.tasks.task_sets import templates


@pytest.mark.parametrize("width", [80, 100, 200])
def test_names_are_whole(width: int) -> None:
    text = io.StringIO()
    Console(file=text, width=width).print(task_table(list(task_rows("shopping", None))))
    shopping = [name for name, each in templates().items() if each.family == "shopping"]
    words = set(text.getvalue().split())
    assert shopping
    assert set(shopping) <= words


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(UsageError, match="general, shopping"):
        list(task_rows("garden", None))
    with pytest.raises(UsageError, match="no split called 'exam'"):
        list(task_rows(None, "exam"))


def test_names_are_whole_in_a_pipe_and_as_json() -> None:
    runner = CliRunner()
    lines = runner.invoke(app, ["tasks", "--template", "clock.*"]).output.splitlines()
    names = [name for name in templates() if name.startswith("clock.")]
    assert [line.split("\t")[0] for line in lines] == names
    rows = json.loads(runner.invoke(app, ["tasks", "--json", "--family", "shopping"]).output)
    assert {row["family"] for row in rows} == {"shopping"}
    assert set(rows[0]) == {"template", "family", "difficulty", "splits", "apps", "example"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--template", "clok.*"], r"no template matches --template clok\.\*; near it: clock\.\*"),
        (["--template", "clock.set_alrm"], r"near it: clock\.set_alarm"),
        (["--template", "zzz", "--json"], "`distrl tasks` lists all"),
        (["--template", "clock.*", "--family", "shopping"], "--family shopping --template"),
    ],
)
def test_nothing_that_matches_is_said_with_what_is_near(words: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["tasks", *words])
    assert done.exit_code != 0
    assert isinstance(done.exception, UsageError)
    assert re.search(said, str(done.exception))
