"""Cores are counted on every system."""

from __future__ import annotations

import os

import pytest

from distrl.processor import usable_cores


def test_cores_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
    monkeypatch.delattr(os, "sched_getaffinity")  # as on a Mac
    assert usable_cores() == (os.cpu_count() or 1)
