"""The phone's storage: a dictionary with limits, which no path leads out of."""

from __future__ import annotations

import pytest

from phonesim.adb_daemon import file_system
from phonesim.adb_daemon.file_system import FIRST_FOLDERS, FileSystem, StorageRefusal, canonical


@pytest.mark.parametrize(
    "path", ["/sdcard/a", "sdcard/a", "//sdcard//./a", "/sdcard/b/../a", "/storage/emulated/0/a"]
)
def test_many_names_for_one_file(path: str) -> None:
    files = FileSystem()
    files.write(path, b"data", 5)
    assert files.read("/mnt/sdcard/a") == b"data"
    assert "a" in files.names("/sdcard")


def test_dots_lead_nowhere() -> None:
    assert canonical("../../../../etc/passwd") == "/etc/passwd"
    assert FileSystem().find("/sdcard/../../../../../etc/passwd") is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/passwd", "Read-only"),
        ("/system/bin/sh", "Read-only"),
        ("/sdcard", "Permission denied"),
        ("/sdcard/../x", "Read-only"),
        ("/sdcard/Download", "Is a directory"),
        ("/sdcard/file/x", "Not a directory"),
        ("/sdcard/" + "x" * 2000, "too long"),
        ("/sdcard/a\x00b", "Invalid"),
    ],
)
def test_what_cannot_be_written(path: str, why: str) -> None:
    files = FileSystem()
    files.write("/sdcard/file", b"", 0)
    with pytest.raises(StorageRefusal, match=why):
        files.write(path, b"x", 0)


def test_it_is_full_at_some_point_and_has_room_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_system, "MAX_BYTES", 100)
    files = FileSystem()
    files.write("/sdcard/a", bytes(60), 0)
    with pytest.raises(StorageRefusal, match="No space"):
        files.write("/sdcard/b", bytes(60), 0)
    files.write("/sdcard/a", bytes(90), 0)  # in place of itself
    files.remove("/sdcard/a")
    files.write("/sdcard/b", bytes(60), 0)
    monkeypatch.setattr(file_system, "MAX_FILES", len(FIRST_FOLDERS))
    files.write("/sdcard/b", b"again", 0)
    with pytest.raises(StorageRefusal, match="No space"):
        files.write("/sdcard/c", b"", 0)
    with pytest.raises(StorageRefusal, match="No space"):
        files.make_folder("/sdcard/d", 0)


def test_a_folder_goes_with_all_that_is_in_it() -> None:
    files = FileSystem()
    files.write("/sdcard/x/y/z", b"1", 0)
    files.write("/sdcard/xy", b"2", 0)
    with pytest.raises(StorageRefusal, match="Is a directory"):
        files.remove("/sdcard/x")
    files.remove("/sdcard/x", with_content=True)
    assert files.find("/sdcard/x/y/z") is None
    assert files.read("/sdcard/xy") == b"2"
    with pytest.raises(StorageRefusal):
        files.remove("/system/bin", with_content=True)
