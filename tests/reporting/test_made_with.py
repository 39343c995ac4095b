"""What a run was made with, told from whatever its card says."""

from __future__ import annotations

import json
from pathlib import Path

from distrl.reporting.made_with import made_with
from distrl.runs.run_directory import RunDirectory

CARD = {
    "version": "1.0",
    "commit": "0123456789abcdef",
    "clean": False,
    "python": "3.12.1",
    "packages": {"torch": "2.13.0", "numpy": "2.3.0"},
    "machine": {"system": "Linux x86_64", "cores": "2", "memory_gb": "25", "gpu": "H200"},
    "plugins": [],
}  # fmt: skip


def test_code_machine_and_packages_are_named(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_text(json.dumps(CARD), "utf-8")
    assert made_with(RunDirectory(tmp_path)) == {
        "code": "distrl 1.0, commit 0123456789ab, with changes",
        "machine": "Linux x86_64, 2 cores, 25 GB of memory",
        "GPU": "H200",
        "Python": "3.12.1",
        "packages": "torch 2.13.0, numpy 2.3.0",
    }


def test_a_run_without_a_card_or_with_a_torn_one_says_nothing(tmp_path: Path) -> None:
    assert made_with(RunDirectory(tmp_path)) == {}
    (tmp_path / "card.json").write_text('{"version": ', "utf-8")
    assert made_with(RunDirectory(tmp_path)) == {}
    (tmp_path / "card.json").write_text("[1]", "utf-8")
    assert made_with(RunDirectory(tmp_path)) == {}
