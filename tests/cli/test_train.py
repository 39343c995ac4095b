"""`distrl train`, `collect` and `cluster` as typed: settings, refusals, help that stands alone."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console
from tests.engine.run.test_model_card import RESULT
from tests.engine.tiny_runs import tiny_config
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.cli.train import new_directory, run_command, show_result
from distrl.config.training_config import load_config, load_run_config
from distrl.errors import DirectoryInUse, InvalidSetting, UsageError

QUIET = Console(quiet=True)
RUNNER = CliRunner()


def command(*names: str) -> Any:
    found: Any = typer.main.get_command(app)
    for name in names:
        found = found.commands[name]
    return found


@pytest.mark.parametrize(
    "names", [("train",), ("collect",), ("cluster", "start"), ("cluster", "join")]
)
def test_every_help_text_is_a_sentence_of_its_own(names: tuple[str, ...]) -> None:
    texts = [getattr(each, "help", None) for each in command(*names).params if each.name != "help"]
    assert texts
    for text in texts:
        assert text, names
        assert text[0].isupper(), text
        assert text.endswith((".", "…")), text
        assert not text.startswith(("Of ", "That ", "To ")), text


def test_a_new_directory_has_the_resolved_settings(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path, "replay.capacity=77")
    run = new_directory(config)
    assert run.path.parent == tmp_path / "runs"
    assert load_config(run.config, []) == config


def test_options_are_settings(tmp_path: Path) -> None:
    words = ["train", "--dry-run", "--engine", "ray", "--address", "10.0.0.5:6379"]
    answered = RUNNER.invoke(app, words)
    assert answered.exit_code == 0, answered.output
    assert "10.0.0.5:6379" in answered.output
    refused = RUNNER.invoke(app, ["train", "--dry-run", "--engine", "cloud"])
    assert isinstance(refused.exception, InvalidSetting)


@pytest.mark.parametrize(
    ("split", "said"),
    [
        ("test", "success on unseen tasks: 19%"),
        ("train", "success on tasks of a split that was trained on: 19%"),
    ],
)
def test_the_last_lines_call_unseen_only_what_is(tmp_path: Path, split: str, said: str) -> None:
    config = tiny_config(tmp_path, tmp_path, f"evaluation.split={split}")
    console = Console(file=StringIO(), width=200)
    show_result(console, new_directory(config), config, RESULT)
    assert isinstance(console.file, StringIO)
    assert said in console.file.getvalue()


def test_what_is_refused_leaves_no_directory(tmp_path: Path) -> None:
    tiny_config(tmp_path, tmp_path)  # writes the file
    words = [f"run.directory={tmp_path / 'runs'}", f"agent.model={tmp_path / 'nowhere'}"]
    words.append("collection.mode=one_process")
    with pytest.raises(UsageError, match="nowhere"):
        run_command(QUIET, tmp_path / "tiny.toml", words, None, dry_run=False)
    assert list((tmp_path / "runs").iterdir()) == []
    with pytest.raises(UsageError, match="is no run directory"):
        run_command(QUIET, None, [], tmp_path, dry_run=False)


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        ("# crc32", r"lacks (\d+) of \1 settings \(run\.name, run\.directory, run\.seed, …\)"),
        ("train_file", r"settings \(tasks\.aitw\.train_file, "),
        ("listen = ", r"lacks 2 of \d+ settings \(engine\.join\.listen, "),
    ],
)
def test_a_run_whose_settings_were_cut_is_not_resumed(tmp_path: Path, cut: str, said: str) -> None:
    run = new_directory(tiny_config(tmp_path, tmp_path))
    whole = run.config.read_text()
    text = whole[: whole.index(cut)]
    run.config.write_text(text)
    for dry_run in (False, True):
        with pytest.raises(InvalidSetting, match=said) as refused:
            run_command(QUIET, None, [], run.path, dry_run=dry_run)
        assert "restore the file, or give each of them as it was: --set" in str(refused.value)
    assert run.config.read_text() == text


def test_what_is_missing_may_be_given(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, tmp_path)
    run = new_directory(config)
    _, _, lines = run.config.read_text().partition("\n")  # without the checksum
    run.config.write_text(lines.replace("capacity =", "# capacity ="))
    with pytest.raises(InvalidSetting, match=r"lacks 1 of \d+ settings \(replay\.capacity\)"):
        load_run_config(run.config)
    given = [f"replay.capacity={config.replay.capacity}"]
    assert load_run_config(run.config, given) == config


def test_settings_of_a_run_that_a_disk_has_changed_are_refused(tmp_path: Path) -> None:
    run = new_directory(tiny_config(tmp_path, tmp_path, "devices.count=6"))
    written = run.config.read_text("utf-8")
    run.config.write_text(written.replace("\ncount = 6", "\ncount = 7"), "utf-8")
    with pytest.raises(InvalidSetting, match=r"config\.toml is not as the run wrote it"):
        load_run_config(run.config)
    _, _, by_hand = run.config.read_text("utf-8").partition("\n")
    run.config.write_text(by_hand, "utf-8")
    assert load_run_config(run.config).devices.count == 7


class SecondCommand(StringIO):
    """Resumes the same run from another place, as soon as the first command has named it."""

    def __init__(self, run: Path) -> None:
        super().__init__()
        self.run = run
        self.refused: list[BaseException] = []

    def write(self, said: str) -> int:
        if self.run.name in said and not self.refused:
            with pytest.raises(Exception) as refused:  # noqa: PT011 — looked at below
                run_command(QUIET, None, ["run.seed=2"], self.run, dry_run=False)
            self.refused.append(refused.value)
        return super().write(said)


def test_of_two_resumes_at_once_the_second_changes_nothing(tmp_path: Path) -> None:
    """The first has written its settings, and its engine has not taken the directory yet."""
    run = new_directory(tiny_config(tmp_path, tmp_path / "nowhere"))
    second = SecondCommand(run.path)
    with pytest.raises(UsageError, match="nowhere"):
        run_command(Console(file=second, width=400), None, ["run.seed=1"], run.path, dry_run=False)
    assert [type(each) for each in second.refused] == [DirectoryInUse]
    assert load_run_config(run.config).run.seed == 1
