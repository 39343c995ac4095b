"""Each extra missing in turn: a sentence that says what to install, and never a traceback.

Packages are hidden from a process of its own by an import hook, as if they were not installed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from distrl.cli.main import EXTRAS

HIDE = """
import importlib.abc, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
sys.argv = ["distrl", *{words!r}]
from distrl.cli.main import main
main()
"""


def without(extra: str, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command where no package of that extra is installed."""
    packages = {package for package, brings in EXTRAS.items() if brings == extra}
    code = HIDE.format(packages=packages, words=words)
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder
    )


def test_settings_can_be_made_without_torch(tmp_path: Path) -> None:
    done = without("learn", ["init", "mine", "--yes", "--kind", "simulated"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not checked: torch is not installed" in done.stdout
    assert (tmp_path / "mine/config.toml").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [["--help"], ["tasks", "--json"], ["configs"], ["plan", "--minutes", "30"],
     ["phone", "sheet", "--out", "sheet.png"]],
)  # fmt: skip
def test_what_needs_no_model_works_without_torch(words: list[str], tmp_path: Path) -> None:
    done = without("learn", words, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("learn", ["train", "quick_start"]),
        ("learn", ["evaluate", "starter", "--episodes", "1"]),
        ("learn", ["collect", "quick_start"]),
        ("learn", ["imitate", "--out", "mine"]),
        ("learn", ["plan", "quick_start"]),
        ("data", ["export", "{run}", "--parquet", "out.parquet"]),
        ("ray", ["train", "quick_start", "--engine", "ray"]),
        ("served", ["evaluate", "http://127.0.0.1:9/v1", "--dialect", "compact"]),
        ("view", ["view", "{run}"]),
        ("join", ["train", "quick_start", "--listen", "127.0.0.1:0"]),
    ],
)
def test_a_missing_extra_is_named(extra: str, words: list[str], tmp_path: Path) -> None:
    from tests.replay.made_up_trajectories import trajectory

    from distrl.replay.store.trajectory_store import TrajectoryStore

    run = tmp_path / "run"
    run.mkdir()
    (run / "config.toml").touch()
    with TrajectoryStore(run / "trajectories") as store:
        store.append_all([trajectory("a")])
    done = without(extra, [word.format(run=run) for word in words], tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "NotInstalled" in done.stderr
    assert f"distrl[{extra}" in done.stderr.replace("\n", "") or extra in done.stderr
