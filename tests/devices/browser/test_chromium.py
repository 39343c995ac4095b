"""Which browser is started, how, and what of it is removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.chromium import (
    PREFIX,
    draws_on_demand,
    find_chromium,
    flags,
    remove_left_profiles,
)
from distrl.errors import NotInstalled


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_headless_shells_come_first(tmp_path: Path) -> None:
    ordinary = program(tmp_path, "chromium")
    surroundings = {"PATH": str(tmp_path)}
    assert find_chromium(surroundings) == ordinary
    assert not draws_on_demand(ordinary)
    shell = program(tmp_path, "chromium-headless-shell")
    assert find_chromium(surroundings) == shell
    assert draws_on_demand(shell)
    assert find_chromium({**surroundings, "CHROMIUM": str(ordinary)}) == ordinary


def test_without_a_browser_it_is_said_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match="apt install chromium-headless-shell"):
        find_chromium({"PATH": str(tmp_path)})
    with pytest.raises(NotInstalled, match="unset it"):
        find_chromium({"CHROMIUM": str(tmp_path / "none")})


def test_only_root_goes_without_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = AllowedOrigins.of([])
    for user, without in ((0, True), (1000, False)):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        assert ("--no-sandbox" in flags(Path("/p"), allowed, on_demand=True)) == without


def test_profiles_of_the_dead_are_removed_and_no_others(tmp_path: Path) -> None:
    dead = tmp_path / f"{PREFIX}{2**22 + 1}-a"  # no process can have that id
    mine = tmp_path / f"{PREFIX}{os.getpid()}-b"
    other = tmp_path / f"{PREFIX}notes"
    for each in (dead, mine, other):
        (each / "Default").mkdir(parents=True)
    remove_left_profiles(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([mine, other])
