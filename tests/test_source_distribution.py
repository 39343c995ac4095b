"""The source distribution has every file that `make` and the tests need; the wheel its licences."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOT_SENT = (".ci/", ".github/", ".gitignore", ".editorconfig", ".pre-commit-config.yaml")


def test_the_wheel_has_the_licence_and_the_notice(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "LICENSE", "NOTICE", "README.md", "src/distrl/__init__.py"):
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / "copy" / name)
    code = f"from setuptools import build_meta; build_meta.build_wheel({str(tmp_path)!r})"
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=tmp_path / "copy", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    [made] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(made) as archive:
        licences = {Path(name).name for name in archive.namelist() if "/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE"}


@pytest.mark.slow
def test_it_has_every_tracked_file(tmp_path: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is no checkout")
    copy = tmp_path / "copy"
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    code = f"from setuptools import build_meta; build_meta.build_sdist({str(tmp_path)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    [made] = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {name for name in listed.stdout.splitlines() if not name.startswith(NOT_SENT)}
    assert {name for name in wanted if (ROOT / name).is_file()} - inside == set()
