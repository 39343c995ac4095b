"""A phone is leased to one run at a time, and given back however its process ends."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.devices.adb.lease_holder import leased_elsewhere
from tests.devices.adb.served_phones import ServedPhones, served_phones
from tests.engine.ingest.full_disk import full_disk
from tests.open_files import open_files

from distrl.devices.adb.phone_leases import is_leased_to, lease, lease_serials, reserve_serials
from distrl.errors import InvalidSetting, StorageError, StorageFull


@pytest.fixture(scope="module")
def phones() -> Iterator[ServedPhones]:
    with served_phones(2) as served:
        yield served


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)  # as in a process that has just begun
    with ExitStack() as stack:
        yield stack


def test_what_another_process_has_is_refused_by_name_until_that_is_killed(
    tmp_path: Path, opened: ExitStack
) -> None:
    with leased_elsewhere("a/b", tmp_path / "theirs") as process:
        holder = lease("a/b", tmp_path / "ours", opened)
        assert holder is not None
        assert (holder.pid, holder.folder) == (process.pid, str(tmp_path / "theirs"))
        assert f"process {process.pid} (`lease_holder.py a/b" in str(holder)
        assert not is_leased_to("a/b", tmp_path / "ours")
        process.kill()
        process.wait()
        assert lease("a/b", tmp_path / "ours", opened) is None
    assert is_leased_to("a/b", tmp_path / "ours")


def test_a_phone_of_the_run_is_its_collectors_too(tmp_path: Path, opened: ExitStack) -> None:
    with leased_elsewhere("a", tmp_path / "run") as process:
        assert is_leased_to("a", tmp_path / "run")
        assert lease("a", tmp_path / "run", opened) is None
        opened.close()  # a collector that ends gives nothing back that its run has
        assert is_leased_to("a", tmp_path / "run")
        process.kill()
        process.wait()
    assert not is_leased_to("a", tmp_path / "run")


def test_what_was_given_back_belongs_to_nobody(tmp_path: Path, opened: ExitStack) -> None:
    with ExitStack() as first:
        assert lease("a", tmp_path / "first", first) is None
    assert not is_leased_to("a", tmp_path / "first")
    assert lease("a", tmp_path / "second", opened) is None


def test_serials_are_those_chosen_or_free_ones_and_each_name_keeps_its_own(
    phones: ServedPhones, tmp_path: Path, opened: ExitStack
) -> None:
    server, run, names = phones.adb.server, tmp_path / "run", ("phone-0", "phone-1")
    one, two = phones.phones.addresses
    chosen = lease_serials(server, ("a", "b", "c"), names, run, opened)
    assert chosen == {"phone-0": "a", "phone-1": "b"}
    opened.close()
    for before in (one, two):
        with ExitStack() as stack:
            found = lease_serials(server, (), names[:1], run, stack, {"phone-0": before})
            assert found == {"phone-0": before}
        with ExitStack() as stack:  # the phone of the first name is gone: the second has its own
            lost = {"phone-0": "lost", "phone-1": before}
            other = two if before == one else one
            found = lease_serials(server, (), names, run, stack, lost)
            assert found == {"phone-0": other, "phone-1": before}
    with leased_elsewhere(one, tmp_path / "theirs") as process:
        found = lease_serials(server, (), names[:1], run, opened, {"phone-0": one})
        assert found == {"phone-0": two}
        with pytest.raises(
            InvalidSetting, match=rf"2 phones .* {one} \(driven by process {process.pid} "
        ):
            lease_serials(server, (), names, run, opened)
        with pytest.raises(
            InvalidSetting, match=rf"phone {one} is driven by process {process.pid} "
        ):
            lease_serials(server, (two, one), names, run, opened)


@pytest.mark.parametrize(
    "record",
    [
        b'{"pid": 99999999999999999999, "folder": "FOLDER", "command": ""}',
        b'{"pid": -1, "folder": "FOLDER", "command": ""}',
        b'{"pid": Infinity, "folder": "FOLDER", "command": ""}',
        b"[" * 8000,
        b'"\xff',
    ],
)
def test_a_damaged_record_is_nobodys(tmp_path: Path, opened: ExitStack, record: bytes) -> None:
    with leased_elsewhere("a", tmp_path / "theirs"):
        [path] = tmp_path.glob("distrl-phones-*/a")
        path.write_bytes(record.replace(b"FOLDER", str(tmp_path).encode()))
        assert not is_leased_to("a", tmp_path)
        assert str(lease("a", tmp_path, opened)) == "another process"


def test_a_full_disk_is_said_and_leaves_nothing_locked(tmp_path: Path, opened: ExitStack) -> None:
    with full_disk(), pytest.raises(StorageError, match="a folder for the locks"):
        lease("a", tmp_path / "run", opened)
    assert tempfile.gettempdir() == str(tmp_path)
    with full_disk(), pytest.raises(StorageFull, match="leasing a phone"):
        lease("a", tmp_path / "run", opened)
    assert open_files(tmp_path) == []
    assert lease("a", tmp_path / "run", opened) is None


def test_while_a_phone_is_leased_nobody_cleans_up_its_lock(
    tmp_path: Path, opened: ExitStack
) -> None:
    assert lease("a", tmp_path / "run", opened) is None
    [folder] = tmp_path.glob("distrl-phones-*")
    descriptor = os.open(folder, os.O_RDONLY)  # as systemd-tmpfiles asks
    try:
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        opened.close()
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)


def test_on_a_cluster_no_two_collectors_of_a_run_share_a_phone(
    phones: ServedPhones, tmp_path: Path, opened: ExitStack
) -> None:
    server, run = phones.adb.server, tmp_path / "run"
    with ExitStack() as first:
        mine = reserve_serials(server, (), 1, run, first)
        others = reserve_serials(server, (), 1, run, opened)
        assert {*mine, *others} == set(phones.phones.addresses)
        with pytest.raises(InvalidSetting, match=r"1 phones are wanted on .*, 0 are free.*driven"):
            reserve_serials(server, mine, 1, run, opened)
        first.close()  # as when its process ends
        assert reserve_serials(server, mine, 1, run, opened) == mine
