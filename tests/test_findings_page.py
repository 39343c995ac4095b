"""Every test that docs/findings.md names is there, every finding has one, rules refer to them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "findings.md").read_text("utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
TABLES, RULES_TABLE = PAGE.split("## The rules behind them")


def rows(table: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]


FINDINGS = {row[0]: row[1:] for row in rows(TABLES) if re.fullmatch(r"[RPA]\d+", row[0])}
RULES = rows(RULES_TABLE)[1:]  # without its heading
RARE = 1 / 6  # of the findings: a word in more of them says nothing of one


def is_there(path: str, name: str) -> bool:
    file = TESTS / path
    return file.is_file() and f"\ndef {name}(" in file.read_text("utf-8")


def test_every_test_that_is_named_is_there() -> None:
    named = NAMED.findall(PAGE)
    assert len(named) > 60
    assert not [f"{path}::{name}" for path, name in named if not is_there(path, name)]
    assert not is_there("test_findings_page.py", "test_of_nothing")


def test_findings_are_numbered_one_after_another() -> None:
    numbers = re.findall(r"^\| ([RPA])(\d+) \|", TABLES, re.MULTILINE)
    for kind in "RPA":
        found = [int(number) for each, number in numbers if each == kind]
        assert sorted(found) == list(range(1, len(found) + 1)), kind


def test_every_finding_has_a_test_and_what_happens_now() -> None:
    assert {f"R{n}" for n in range(1, 15)} | {f"P{n}" for n in range(1, 14)} <= set(FINDINGS)
    for finding, row in FINDINGS.items():
        wrong, tests, now = row
        assert NAMED.search(tests), finding
        assert wrong.strip(), finding
        assert now.strip("| "), finding


def words(text: str) -> set[str]:
    """Their beginnings, so that endings do not matter."""
    return {each[:5] for each in re.findall(r"[a-z]{3,}", text.lower())}


IN_FINDINGS = {finding: words(" ".join(row)) for finding, row in FINDINGS.items()}
SEEN = Counter(word for each in IN_FINDINGS.values() for word in each)


def speaks_of(finding: str, rule: str) -> bool:
    """Whether a finding and a rule have a word in common that few findings have."""
    common = words(rule) & IN_FINDINGS.get(finding, set())
    return any(SEEN[word] <= RARE * len(FINDINGS) for word in common)


def referred_to(text: str) -> list[str]:
    """Findings by number, those of "A1 to A3" each."""
    found = re.findall(r"\b([RPA])(\d+)(?: to [RPA](\d+))?", NAMED.sub("", text))
    return [
        f"{kind}{number}"
        for kind, first, last in found
        for number in range(int(first), int(last or first) + 1)
    ]


def test_what_a_rule_refers_to_speaks_of_it() -> None:
    named = [
        (finding, f"{rule} {where}")
        for rule, where, tests in RULES
        for finding in referred_to(tests)
    ]
    assert len(named) > 25
    assert not [(finding, rule) for finding, rule in named if not speaks_of(finding, rule)]
    [dry] = [rule for rule, *_ in RULES if rule.startswith("a dry run")]
    assert speaks_of("A28", dry)
    assert not speaks_of("A19", dry)  # a damaged certificate
    assert not speaks_of("A999", dry)
    assert referred_to("A1 to A3; `a/test_b.py::test_R9`, R4") == ["A1", "A2", "A3", "R4"]
