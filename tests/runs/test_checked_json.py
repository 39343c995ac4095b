"""A summary that a disk has changed is not taken for what the run wrote."""

from __future__ import annotations

import json

from distrl.runs.checked_json import is_as_written, to_checked_json

TABLE = {"updates": 12, "rate": 0.25, "damaged_files": ["a"], "gain": {"low": None}}


def test_it_is_json_with_a_checksum() -> None:
    written = to_checked_json(TABLE)
    assert json.loads(written).keys() == {*TABLE, "crc32"}
    assert is_as_written(written.encode())


def test_every_changed_bit_and_every_cut_is_noticed() -> None:
    whole = to_checked_json(TABLE).encode()
    assert is_as_written(whole[:-1])  # nothing is lost with the last newline
    for at in range(len(whole)):
        assert not is_as_written(whole[: max(0, at - 1)])
        for bit in range(8):
            changed = whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
            assert not is_as_written(changed), changed


def test_files_of_versions_without_a_checksum_are_taken() -> None:
    assert is_as_written((json.dumps(TABLE, indent=2) + "\n").encode())
    assert not is_as_written(b"{" * 100_000)
