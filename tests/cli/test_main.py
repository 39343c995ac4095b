"""The command line, as a newcomer meets it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from PIL import Image
from tests.slow_params import one_in
from typer.testing import CliRunner

import distrl
from distrl.cli.main import app, main
from distrl.errors import INSTALL_LEARN, InvalidSetting, UnknownApp, UnknownTask, UsageError

RUNNER = CliRunner()


def invoke(*words: str) -> str:
    result = RUNNER.invoke(app, list(words))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def size_of(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size


def test_it_says_its_version_and_lists_its_commands() -> None:
    assert invoke("--version").strip() == f"distrl {distrl.__version__}"
    for command in ("train", "collect", "evaluate", "doctor", "tasks", "phone"):
        assert command in invoke("--help")


def helped(command: Any) -> Iterator[tuple[str, str]]:
    """Every help text of a command and those below it, and where it is."""
    name = command.name or ""
    yield name, command.help or ""
    for option in command.params:
        yield f"{name} {option.name}", getattr(option, "help", None) or ""
    for each in getattr(command, "commands", {}).values():
        for where, text in helped(each):
            yield f"{name} {where}", text


def test_every_help_text_stands_alone() -> None:
    """It is read without the option's name before it, and begins as a sentence does."""
    goes_on = re.compile(r"(Of|Until|That|Which|What|Also|It|Whether|For example|How)\b|[a-z]")
    texts = dict(helped(typer.main.get_command(app)))
    assert len(texts) > 150
    wrong = {at: text for at, text in texts.items() if not text or goes_on.match(text)}
    assert wrong == {}


def test_a_screen_is_drawn_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "screen.png"
    invoke("phone", "draw", "--app", "notes", "--seed", "4", "--out", str(out))
    assert size_of(out) == (360, 720)


def test_any_screen_can_be_reached_by_labels_drawn_and_read(tmp_path: Path) -> None:
    way = ["--app", "Notes", "--tap", "New note", "--tap", "Title"]
    invoke("phone", "draw", *way, "--out", str(tmp_path / "edit.png"))
    assert size_of(tmp_path / "edit.png") == (360, 720)
    assert "focused" in invoke("phone", "read", *way)
    assert 'class="android.widget.EditText"' in invoke("phone", "read", *way, "--xml")
    with pytest.raises(UsageError, match="nothing called 'No such button'"):
        invoke("phone", "draw", "--app", "Notes", "--tap", "No such button")


@pytest.mark.slow
def test_every_app_is_on_the_sheet_and_looks_differ(tmp_path: Path) -> None:
    invoke("phone", "sheet", "--out", str(tmp_path / "sheet.png"))
    assert size_of(tmp_path / "sheet.png")[0] > 1000
    invoke("phone", "looks", "--seeds", "3", "--out", str(tmp_path / "looks.png"))
    assert size_of(tmp_path / "looks.png")[0] > 600


def test_a_task_is_played_as_a_film_and_as_a_contact_sheet(tmp_path: Path) -> None:
    recording, sheet = tmp_path / "film.gif", tmp_path / "sheet.png"
    said = invoke("phone", "play", "notes.create/train/3", "--out", str(recording))
    assert "success" in said
    with Image.open(recording) as moving:
        assert moving.n_frames > 5  # type: ignore[attr-defined]
    invoke("phone", "play", "notes.create/train/3", "--agent", "monkey", "--out", str(sheet))
    assert size_of(sheet)[1] > 400


def test_a_dry_run_shows_settings_and_memory_and_leaves_nothing(tmp_path: Path) -> None:
    said = invoke(
        "train", "--dry-run", "--set", "devices.count=3", "--set", f"run.directory={tmp_path}/runs"
    )
    assert "count = 3" in said
    assert "memory at most" in said
    assert not list(tmp_path.iterdir())


def test_tasks_can_be_listed_by_family_and_split() -> None:
    assert "notes.create" in invoke("tasks", "--family", "general", "--split", "train")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["phone", "draw", "--app", "Nowhere"], UnknownApp),
        (["phone", "play", "no.such/train/0"], UnknownTask),
        (["phone", "play", "notes.create/train/0", "--agent", "robot"], UsageError),
        (["phone", "play", "notes.create/train/0", "--out", "x.avi"], UsageError),
        (["phone", "draw", "--out", "."], UsageError),
        (["phone", "draw", "--out", "screen"], UsageError),
        (["evaluate", "done", "--episodes", "1", "--json", "."], UsageError),
        (["evaluate", "done", "--on", "quick_start", "--json", "."], UsageError),
        (["evaluate", "done", "--episodes", "1", "--result", "."], UsageError),
        (["evaluate", "done", "--episodes", "1", "--result", ""], UsageError),
        (["evaluate", "done", "--episodes", "1", "--task-set", ".."], UsageError),
        (["tasks", "--family", "garden"], UsageError),
        (["tasks", "--split", "exam"], UsageError),
        (["train", "--set", "devices.cuont=3"], InvalidSetting),
        (["train", "no-such-file.toml"], InvalidSetting),
        (["train", "--resume", "no-such-run"], UsageError),
        (["train", "file.toml", "--resume", "run"], UsageError),
        (["collect", "--set", "run.minutes=-1"], InvalidSetting),
    ],
)
def test_bad_input_is_a_typed_error(words: list[str], error: type[Exception]) -> None:
    with pytest.raises(error):
        invoke(*words)


@pytest.mark.parametrize("words", one_in(3, [["train"], ["train", "--dry-run"], ["imitate"]]))
def test_without_torch_the_extra_that_has_it_is_named_in_one_line(words: list[str]) -> None:
    code = f"""
import sys
sys.modules["torch"] = None
sys.argv = ["distrl", *{words!r}]
from distrl.cli.main import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert said == f"NotInstalled: this needs the package 'torch': {INSTALL_LEARN}"
    assert "--index-url" in said  # the small torch, for a machine without a GPU


def test_configs_can_be_trained_by_name_as_the_help_says() -> None:
    assert "quick_start" in invoke("train", "--help")


def test_the_program_says_an_error_in_one_line_and_exits_with_two(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["distrl", "phone", "play", "notes.[creat]/train/0"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("UnknownTask")
    assert "notes.[creat]" in said  # brackets are not taken for colours
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "words",
    [
        ["phone", "draw", "--out", "/proc/x/screen.png"],
        ["phone", "play", "notes.create/train/3", "--out", "/proc/x/episode.png"],
        ["evaluate", "done", "--episodes", "1", "--json", "/proc/x/figures.json"],
    ],
)
def test_a_place_that_cannot_be_written_to_is_said_in_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["distrl", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("StorageError: making the folder of /proc/x/")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "said"),
    [
        ("> /dev/full", "StorageFull: using the place that the output goes to"),
        ("> /dev/null", ""),
        (">&-", ""),
        ("| head -c 1 | grep -c .", ""),
    ],
)
def test_wherever_the_output_goes_there_is_no_traceback(shell: str, said: str) -> None:
    command = f"{sys.executable} -m distrl configs {shell}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr
    assert bool(done.stderr) == bool(said)


@pytest.mark.slow
def test_a_limit_on_open_files_is_said_in_one_line() -> None:
    command = f"ulimit -n 40; {sys.executable} -m distrl phone serve --phones 60 --port 0"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "Too many open files" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_folder_that_is_gone_is_said_in_one_line(tmp_path: Path) -> None:
    command = f"cd {tmp_path} && mkdir a && cd a && rmdir ../a && {sys.executable} -m distrl runs"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("StorageError: using the folder that the command was given in")
