"""The command that serves phones for OpenEnv: what is wrong is a sentence."""

from __future__ import annotations

import sys

import pytest

from distrl.environments.openenv_server import main


def test_the_server_fails_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "distrl.environments.openenv_environment", raising=False)
    monkeypatch.setitem(sys.modules, "fastmcp", None)  # as if it were not installed
    with pytest.raises(SystemExit, match=r"pip install 'distrl\[openenv\]'"):
        main([])
    with pytest.raises(SystemExit, match="no task template called 'nonsense'"):
        main(["--task", "nonsense/train/0"])
