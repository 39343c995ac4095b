"""The command starts itself anew with the environment that torch wants, and nobody else does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from distrl import process_environment
from distrl.process_environment import TO_FORK_FROM, WANTED, for_forkserver, missing

COMMAND = """
import json, os, sys
from distrl.process_environment import WANTED, restart_if_needed
{before}
print("started")
restart_if_needed()
print(json.dumps([sys.argv[1:], {{name: os.environ.get(name) for name in WANTED}}]))
"""


def run(folder: Path, *words: str, before: str = "", **variables: str) -> tuple[int, list[object]]:
    """How often it started, and what it printed last."""
    script = folder / "distrl"
    script.write_text(COMMAND.format(before=before))
    environment = {name: value for name, value in os.environ.items() if name not in WANTED}
    done = subprocess.run(
        [sys.executable, "-u", str(script), *words],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    lines = done.stdout.splitlines()
    last: list[object] = json.loads(lines[-1])
    return lines.count("started"), last


def test_a_command_begins_anew_once_with_its_words(tmp_path: Path) -> None:
    starts, (words, environment) = run(tmp_path, "train", "--set", "a.b=c d")
    assert starts == 2
    assert words == ["train", "--set", "a.b=c d"]
    assert environment == WANTED


def test_it_goes_on_where_all_is_set_and_leaves_the_users_own(tmp_path: Path) -> None:
    assert run(tmp_path, "train", **WANTED)[0] == 1
    starts, (_, environment) = run(tmp_path, "train", OMP_WAIT_POLICY="active")
    assert starts == 2
    assert environment == {**WANTED, "OMP_WAIT_POLICY": "active"}


@pytest.mark.parametrize(
    "before",
    [
        "sys.modules['torch'] = sys",
        "sys.argv = ['distrl', 'two', 'words']",
        "sys.argv = ['distrl', 'other']",
        "sys.argv[0] = '/somewhere/pytest/__main__.py'",
    ],
)
def test_a_library_never_starts_anew(tmp_path: Path, before: str) -> None:
    starts, (_, environment) = run(tmp_path, "words", before=before)
    assert starts == 1
    assert environment == dict.fromkeys(WANTED)


@pytest.mark.parametrize(
    ("started", "arguments", "ours"),
    [
        (["python", "-m", "distrl", "train"], ["/lib/distrl/__main__.py", "train"], True),
        (["python", "/bin/distrl", "train"], ["/bin/distrl", "train"], True),
        (["python", "/bin/distrl"], ["/bin/distrl"], True),
        (["python", "-m", "pytest", "train"], ["/lib/pytest/__main__.py", "train"], False),
        (["python", "-m", "pytest"], ["distrl"], False),
        (["python", "-m", "pytest", "-q"], ["distrl", "train"], False),
        (["python", "/bin/distrl", "train"], ["/bin/distrl", "collect"], False),
    ],
)
def test_only_the_command_itself_begins_anew(
    monkeypatch: pytest.MonkeyPatch, started: list[str], arguments: list[str], ours: bool
) -> None:
    monkeypatch.setattr(sys, "orig_argv", started)
    monkeypatch.setattr(sys, "argv", arguments)
    assert process_environment._is_own_command_line() is ours


def test_collectors_have_one_thread_unless_told_otherwise() -> None:
    assert for_forkserver({}) == {**WANTED, **TO_FORK_FROM}
    assert for_forkserver({"OMP_NUM_THREADS": "4"})["OMP_NUM_THREADS"] == "1"
    assert for_forkserver({"OMP_WAIT_POLICY": "active"})["OMP_WAIT_POLICY"] == "active"
    assert missing(for_forkserver({})) == {}


GUARDED = "needs a guard"
ASKS = f"""
from distrl.errors import UsageError
from distrl.process_environment import check_script
try:
    check_script()
except UsageError:
    print({GUARDED!r})
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-m", "mypkg"], ""),
        (["mypkg"], ""),  # a folder
        (["-m", "mypkg.train"], GUARDED),
        (["mypkg/train.py"], GUARDED),
    ],
)
def test_the_main_module_of_a_package_needs_no_guard(
    tmp_path: Path, words: list[str], said: str
) -> None:
    """Processes that multiprocessing starts do not import it."""
    package = tmp_path / "mypkg"
    package.mkdir()
    for name in ("__init__", "__main__", "train"):
        (package / f"{name}.py").write_text("" if name == "__init__" else ASKS, "utf-8")
    path = os.pathsep.join(each for each in sys.path if each)
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == said
