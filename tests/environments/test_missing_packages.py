"""Without the package of its extra, each environment says which extra to install."""

from __future__ import annotations

import importlib
import sys

import pytest

from distrl.environments.openenv_server import main
from distrl.environments.task_index import SPLITS, task_at, task_count
from distrl.errors import NotInstalled, UnknownTask

PACKAGES = {
    "distrl.environments.openenv_environment": ("fastmcp", "openenv"),
    "distrl.environments.verifiers_environment": ("verifiers.v1", "verifiers"),
    "distrl_phone": ("verifiers.v1", "verifiers"),
    "distrl.environments.cube_benchmark": ("cube.benchmark", "cube"),
}


@pytest.mark.parametrize("module", PACKAGES)
def test_the_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package, extra = PACKAGES[module]
    for name in (*PACKAGES, package.split(".")[0]):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NotInstalled, match=rf"distrl\[{extra}\]"):
        importlib.import_module(module)


def test_the_server_says_so_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "distrl.environments.openenv_environment", raising=False)
    monkeypatch.setitem(sys.modules, "fastmcp", None)
    with pytest.raises(SystemExit, match=r"pip install 'distrl\[openenv\]'"):
        main([])
    with pytest.raises(SystemExit, match="no task template called 'nonsense'"):
        main(["--task", "nonsense/train/0"])


@pytest.mark.parametrize("split", SPLITS)
def test_every_index_is_a_task_of_its_split(split: str) -> None:
    last = task_count(split) - 1
    assert task_at(split, 0) != task_at(split, 1) != task_at(split, last)
    assert f"/{split}/" in task_at(split, last)
    with pytest.raises(IndexError, match=f"0 to {last}"):
        task_at(split, last + 1)


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(UnknownTask, match="give train, test"):
        task_count("trian")
