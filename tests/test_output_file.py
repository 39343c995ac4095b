"""A file that cannot be written is refused by its name, before there is anything to write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distrl.errors import StorageError, UsageError
from distrl.output_file import prepare_output_file


@pytest.mark.parametrize("name", [".", "..", "", "/"])
def test_a_folder_is_no_file(name: str) -> None:
    with pytest.raises(UsageError, match=r"is a folder; name a file in it, such as .*a\.json"):
        prepare_output_file(Path(name), "a.json")


def test_a_pipe_or_a_device_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(UsageError, match=rf"^{path} is a device or a pipe.* as a\.json$"):
            prepare_output_file(path, "a.json")


def test_a_file_may_be_written_again(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    prepare_output_file(tmp_path / "a.json", "a.json")


def test_the_folder_of_a_file_is_made(tmp_path: Path) -> None:
    prepare_output_file(tmp_path / "new" / "deep" / "a.json", "a.json")
    assert (tmp_path / "new" / "deep").is_dir()


def test_there_is_no_folder_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(StorageError, match=r"making the folder of .*b\.json"):
        prepare_output_file(tmp_path / "a" / "b.json", "a.json")
