"""A training run is no place for episodes that were played beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.errors import UsageError
from distrl.runs.kept_episodes import KeptEpisodes


def test_others_on_the_machine_see_no_screens(tmp_path: Path) -> None:
    with KeptEpisodes.open(tmp_path / "kept"):
        assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700


def test_the_directory_of_a_training_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").touch()
    with pytest.raises(UsageError, match="of their own"):
        KeptEpisodes.open(tmp_path)
