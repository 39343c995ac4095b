"""Verdicts on disk: shared, and readable whatever happened to the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.judging.vlm_judge import JudgeCache
from distrl.records import Verdict

YES = Verdict(True, "it is there: “é”", "vlm/a/1")
NO = Verdict(False, "no", "vlm/b/1")


def test_it_outlives_a_process_and_keeps_judges_apart(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "cache.jsonl"
    with JudgeCache(path) as cache:
        cache.add("k", YES)
        cache.add("k", NO)
        assert cache.find("k", "vlm/a/1") == YES
    with JudgeCache(path) as cache:
        assert cache.find("k", "vlm/a/1") == YES
        assert cache.find("k", "vlm/b/1") == NO
        assert cache.find("other", "vlm/a/1") is None
        assert (cache.found, cache.missed) == (2, 1)


def test_a_damaged_line_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "cache.jsonl"
    with JudgeCache(path) as cache:
        cache.add("k", YES)
    path.write_bytes(b'\xff\xfe\n[]\n{"key":"x"}\n' + path.read_bytes() + b'{"key": "torn", "su')
    with JudgeCache(path) as cache:
        assert len(cache) == 1
        cache.add("m", NO)
    with JudgeCache(path) as cache:
        assert cache.find("k", "vlm/a/1") == YES
        assert cache.find("m", "vlm/b/1") == NO


def test_what_cannot_be_read_is_counted_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache.jsonl").write_bytes(b'{"key":\n\n\xff\n')
    with JudgeCache(tmp_path / "cache.jsonl") as cache:
        assert (len(cache), cache.unreadable) == (0, 2)
    assert "2 lines of the judge's cache" in caplog.text


def test_two_at_a_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cache.jsonl"
    with JudgeCache(path) as one, JudgeCache(path) as other:
        for number in range(50):
            one.add(f"one-{number}", YES)
            other.add(f"other-{number}", NO)
    with JudgeCache(path) as cache:
        assert len(cache) == 100
