"""What was refused is sent in order until it is answered, and counted where it is cut."""

from __future__ import annotations

import fcntl
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from distrl.devices.safety.refusals import (
    MAX_CHARACTERS,
    MAX_REFUSALS,
    Refusal,
    RefusalBatch,
    RefusalOutbox,
    append_refusals,
)
from distrl.errors import StorageFull
from distrl.json_lines import encode_line, read_lines


def refusal(number: int, why: str = "it says 'Pay'") -> Refusal:
    return Refusal(1000.0 + number, "phone-0", f"Tap({number})", why)


def test_each_is_sent_until_it_is_answered_also_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "refusals.jsonl"
    outbox = RefusalOutbox(path)
    assert outbox.batch() == RefusalBatch()  # nothing was ever refused
    append_refusals(path, refusal(1), refusal(2))
    assert outbox.batch().refusals == (refusal(1), refusal(2))
    assert RefusalOutbox(path).batch().refusals == (refusal(1), refusal(2))  # no answer came
    outbox.sent()
    append_refusals(path, refusal(3))
    assert RefusalOutbox(path).batch().refusals == (refusal(3),)
    path.unlink()
    append_refusals(path, refusal(4))
    assert outbox.batch().refusals == (refusal(4),)  # a file that somebody has begun anew


def test_a_batch_is_bounded_and_what_the_last_one_leaves_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "refusals.jsonl"
    append_refusals(path, *map(refusal, range(2 * MAX_REFUSALS + 7)))
    outbox = RefusalOutbox(path)
    first = outbox.batch()
    assert (len(first.refusals), first.cut) == (MAX_REFUSALS, 0)
    outbox.sent()
    last = outbox.batch(last=True)
    assert last.refusals[0] == refusal(MAX_REFUSALS)
    assert (len(last.refusals), last.cut) == (MAX_REFUSALS, 7)
    outbox.sent()
    assert outbox.batch() == RefusalBatch()


def test_a_full_disk_raises_and_the_next_line_is_whole(tmp_path: Path) -> None:
    path, unlimited = tmp_path / "refusals.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)
    append_refusals(path, refusal(1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, unlimited[1]))
    try:
        with pytest.raises(StorageFull):  # some of the line was written
            append_refusals(path, refusal(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    append_refusals(path, refusal(3))
    assert read_lines(path, Refusal) == [refusal(1), refusal(3)]


def test_several_processes_share_the_file(tmp_path: Path) -> None:
    path = tmp_path / "refusals.jsonl"
    with path.open("ab") as another, ThreadPoolExecutor(1) as thread:
        fcntl.flock(another, fcntl.LOCK_EX)
        written = thread.submit(append_refusals, path, refusal(2))
        another.write(encode_line(refusal(1)))
        another.flush()
        assert not written.done()
        fcntl.flock(another, fcntl.LOCK_UN)
        written.result(60.0)
    assert read_lines(path, Refusal) == [refusal(1), refusal(2)]


def test_damaged_lines_are_counted_long_texts_cut_and_torn_lines_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "refusals.jsonl"
    append_refusals(path, refusal(1, "x" * 10**6), refusal(2, "half \ud83d of a pair"))
    with path.open("ab") as file:
        file.write(b'{"time":"noon"}\n{"time":3.0,"dev')
    batch = RefusalOutbox(path).batch()
    assert batch.cut == 1
    assert batch.refusals[0].why == "x" * (MAX_CHARACTERS - 1) + "…"
    assert batch.refusals[1].why == "half ? of a pair"
