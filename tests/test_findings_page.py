"""Every test that docs/findings.md names is there, and every finding has one."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "findings.md").read_text("utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
FINDINGS = [*(f"R{n}" for n in range(1, 15)), *(f"P{n}" for n in range(1, 14))]


def is_there(path: str, name: str) -> bool:
    file = TESTS / path
    return file.is_file() and f"\ndef {name}(" in file.read_text("utf-8")


def test_every_test_that_is_named_is_there() -> None:
    named = NAMED.findall(PAGE)
    assert len(named) > 60
    assert not [f"{path}::{name}" for path, name in named if not is_there(path, name)]
    assert not is_there("test_findings_page.py", "test_of_nothing")


def test_every_finding_has_a_test_and_what_happens_now() -> None:
    rows = {line.split(" | ")[0].strip("| "): line for line in PAGE.splitlines()}
    for finding in FINDINGS:
        _, wrong, tests, now = rows[finding].split(" | ")
        assert NAMED.search(tests), finding
        assert wrong.strip(), finding
        assert now.strip("| "), finding
