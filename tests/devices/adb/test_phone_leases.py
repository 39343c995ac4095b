"""A phone is leased to one run at a time, and given back however its process ends."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.devices.adb.lease_holder import leased_elsewhere
from tests.devices.adb.served_phones import ServedPhones, served_phones

from distrl.devices.adb.phone_leases import is_leased_to, lease, lease_serials, reserve_serials
from distrl.errors import InvalidSetting


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


def test_serials_are_those_named_or_free_ones_those_of_before_first(
    phones: ServedPhones, tmp_path: Path, opened: ExitStack
) -> None:
    server, run = phones.adb.server, tmp_path / "run"
    one, two = phones.phones.addresses
    assert lease_serials(server, ("a", "b", "c"), 2, run, opened) == ("a", "b")
    opened.close()
    for before in (one, two):
        with ExitStack() as stack:
            assert lease_serials(server, (), 1, run, stack, [before]) == (before,)
    with leased_elsewhere(one, tmp_path / "theirs") as process:
        assert lease_serials(server, (), 1, run, opened, [one]) == (two,)
        with pytest.raises(
            InvalidSetting, match=rf"2 phones .* {one} \(driven by process {process.pid} "
        ):
            lease_serials(server, (), 2, run, opened)
        with pytest.raises(
            InvalidSetting, match=rf"phone {one} is driven by process {process.pid} "
        ):
            lease_serials(server, (two, one), 2, run, opened)


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
