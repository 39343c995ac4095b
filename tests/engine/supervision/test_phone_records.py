"""Refusals that others send: taken once, legible, bounded, and counted where they are cut."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from distrl.devices.safety.refusals import Refusal, RefusalBatch, append_refusals
from distrl.engine.supervision.phone_records import CUT, PhoneRecords
from distrl.json_lines import read_lines


def refusal(number: int) -> Refusal:
    return Refusal(1000.0 + number, "phone-0", f"Tap({number})", "it says 'Pay'")


def batch(*numbers: int, cut: int = 0) -> RefusalBatch:
    return RefusalBatch(tuple(map(refusal, numbers)), cut)


def test_what_is_sent_again_is_written_once_also_by_a_restarted_learner(tmp_path: Path) -> None:
    path, faults = tmp_path / "refusals.jsonl", Counter[str]()
    records = PhoneRecords(path, faults)
    records.take(None)
    records.take(RefusalBatch())
    assert not path.exists()  # nobody has looked, nothing is there
    records.take(batch(1, 2, cut=4))
    append_refusals(path, refusal(8))  # a collector of this machine writes to the same file
    records.take(batch(2, 3))
    PhoneRecords(path, faults).take(batch(3, 4, 8))
    assert read_lines(path, Refusal) == [refusal(n) for n in (1, 2, 8, 3, 4)]
    assert faults[CUT] == 4


def test_a_run_keeps_so_many_and_counts_the_rest(tmp_path: Path) -> None:
    path, faults = tmp_path / "refusals.jsonl", Counter[str]()
    records = PhoneRecords(path, faults, max_lines=3)
    records.take(batch(1, 2))
    records.take(batch(3, 4, 5))
    records.take(batch(6))
    assert read_lines(path, Refusal) == [refusal(n) for n in (1, 2, 3)]
    assert faults[CUT] == 3


def test_what_a_stranger_sends_can_be_read_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "refusals.jsonl"
    records = PhoneRecords(path, Counter())
    wild = tuple(Refusal(at, "a\nb", "\x1b[2J", "y" * 10**5) for at in (float("nan"), 1e300, -1.0))
    records.take(RefusalBatch(wild))
    lines = read_lines(path, Refusal)  # a time that is no number would make the file unreadable
    assert lines
    assert all(0.0 < each.time < 1e11 for each in lines)
    assert {(each.device, each.action) for each in lines} == {("a?b", "?[2J")}
    assert all(len(each.why) <= 300 for each in lines)


def test_what_the_disk_does_not_take_comes_with_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "away"
    folder.touch()  # in the way of the folder
    records = PhoneRecords(folder / "refusals.jsonl", Counter())
    records.take(batch(1))
    folder.unlink()
    records.take(batch(2))
    assert read_lines(folder / "refusals.jsonl", Refusal) == [refusal(1), refusal(2)]
