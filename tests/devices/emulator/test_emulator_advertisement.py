"""What running emulators say about themselves, in small files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distrl.devices.emulator.emulator_pictures import EmulatorAdvertisement, advertisement_of


def test_the_newest_advertisement_of_the_port_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    running = tmp_path / "avd" / "running"
    running.mkdir(parents=True)
    texts = {
        "pid_1.ini": "port.serial=5600\ngrpc.port=8600\ngrpc.token=old\n",
        "pid_2.ini": "port.serial=5600\ngrpc.port = 8601\ngrpc.token=a=b==\n",
        "pid_3.ini": "port.serial=5602\ngrpc.port=8602\n",
        "pid_4.ini": "port.serial=5600\n",  # one without the service
        "pid_5.ini": "\xff\n=\n[",
    }
    for age, (name, text) in enumerate(texts.items()):
        (running / name).write_text(text, "latin-1")
        os.utime(running / name, (1_000 + age, 1_000 + age))
    assert advertisement_of(5600) == EmulatorAdvertisement(8601, "a=b==")
    assert advertisement_of(5602) == EmulatorAdvertisement(8602, "")
    assert advertisement_of(5604) is None


def test_one_without_a_runtime_folder_is_found_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for number, root in enumerate((".android", "Library/Caches/TemporaryItems")):
        running = tmp_path / root / "avd" / "running"
        running.mkdir(parents=True)
        (running / "pid_7.ini").write_text(f"port.serial={5600 + number}\ngrpc.port=8600\n")
        assert advertisement_of(5600 + number) == EmulatorAdvertisement(8600)


def test_the_token_is_not_printed() -> None:
    assert "secret" not in repr(EmulatorAdvertisement(8600, "secret"))
