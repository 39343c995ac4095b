"""What several tests of devices share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """AndroidEnv's `AdbController` removes variables from the process; here they come back."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ANDROID_HOME", "ANDROID_ADB_SERVER_PORT"):
        monkeypatch.setenv(name, "none")
        monkeypatch.delenv(name)
