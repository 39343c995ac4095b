"""A folder that others may have made before us is used only if it is ours alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distrl.errors import StorageError
from distrl.private_folder import make_private


def test_it_is_made_once_and_for_us_alone(tmp_path: Path) -> None:
    folder = make_private(tmp_path / "locks")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert make_private(folder) == folder


def test_a_link_a_file_or_an_open_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "models")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "file").touch()
    for name in ("link", "open", "file"):
        with pytest.raises(StorageError, match=name):
            make_private(tmp_path / name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    folder = make_private(tmp_path / "locks")
    os.chown(folder, 65534, 65534)
    with pytest.raises(StorageError, match=r"is not ours alone.*set TMPDIR"):
        make_private(folder)
