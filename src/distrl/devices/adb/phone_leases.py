"""Lease phones, so that no two runs of this user use the same phone of this machine.

A lease is a lock (flock) on one file per serial, in a folder that only this user can access. The
kernel releases the lock when its process dies in any way; the file's content says who holds it. The
folder is below /tmp, not $XDG_RUNTIME_DIR, which is deleted with the user's last login session and
is not set in every process of a user.

A phone is leased to a folder: that of a run, or the spool of a joined collector. The process that
lives for the whole run leases all phones before any is touched. Its collectors may be restarted;
they check that their phones are leased to their run (`is_leased_to`). So no other run can take the
phone of a collector that is being restarted.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import socket
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from distrl.devices.adb.adb import AdbServer, ListedDevice
from distrl.devices.emulator.emulator_ports import try_lock
from distrl.errors import InvalidSetting, storage_error
from distrl.private_folder import keep_from_cleanup, make_private

RECORD_SECONDS = 1.0  # deadline for a new holder to write its record
MAX_COMMAND, MAX_RECORD = 100, 8192  # characters, bytes


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that has leased a phone; `pid` is 0 if it has not written its record."""

    pid: int = 0
    folder: str = ""
    command: str = ""

    def __str__(self) -> str:
        if not self.pid:
            return "another process"
        return f"process {self.pid} (`{self.command}`, in {self.folder})"


def lease(serial: str, folder: Path, opened: ExitStack) -> Holder | None:
    """Lease a phone until `opened` closes; if another folder has it, return its holder.

    A phone that any process has already leased to the same folder counts as leased: return None.
    """
    path, end = _lock_path(serial), time.monotonic() + RECORD_SECONDS
    while (lock := _locked(path)) < 0:
        holder = _read(path)
        if holder.pid or time.monotonic() > end:
            return None if holder.folder == str(folder.absolute()) else holder
        time.sleep(0.01)  # a process is just leasing it, or only checks it (`is_leased_to`)
    opened.callback(_lease_of(lock, path, folder).release)
    return None


def is_leased_to(serial: str, folder: Path) -> bool:
    """Return whether a living process has leased the phone to that folder."""
    path = _lock_path(serial)
    if (lock := _locked(path)) >= 0:
        os.close(lock)
        return False
    return _read(path).folder == str(folder.absolute())


def lease_serials(
    server: AdbServer,
    chosen: Sequence[str],
    names: Sequence[str],
    folder: Path,
    opened: ExitStack,
    before: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Lease a phone for each name; return the serials by name.

    Use the `chosen` serials in order, if there are any. Otherwise each name keeps the serial that
    it had `before`; names whose phone is gone get a usable phone that is free.
    """
    if chosen:
        _lease_chosen(chosen[: len(names)], folder, opened)
        return dict(zip(names, chosen[: len(names)], strict=True))
    listed = server.devices()
    usable = [each.serial for each in listed if each.usable]
    leased: dict[str, str] = {}
    held: dict[str, Holder] = {}

    def take(name: str, serial: str) -> None:
        usable.remove(serial)
        if (holder := lease(serial, folder, opened)) is None:
            leased[name] = serial
        else:
            held[serial] = holder

    for name in names:
        if (kept := before.get(name, "")) in usable:
            take(name, kept)
    for name in names:
        while name not in leased and usable:
            take(name, usable[0])  # in the order that adb lists them
    if len(leased) < len(names):
        raise InvalidSetting(
            f"{len(names)} phones are wanted and adb lists: {_states(listed, held)}; connect more, "
            "or lower devices.count and devices.spares (`distrl devices` shows what each lacks)"
        )
    return {name: leased[name] for name in names}


def _lease_chosen(chosen: Sequence[str], folder: Path, opened: ExitStack) -> None:
    for serial in chosen:
        if (holder := lease(serial, folder, opened)) is not None:
            raise InvalidSetting(
                f"the phone {serial} is driven by {holder}: wait until that has ended or stop it, "
                "or name other phones in devices.serials (`distrl devices` lists them)"
            )


def reserve_serials(
    server: AdbServer,
    named: Sequence[str],
    wanted: int,
    folder: Path,
    opened: ExitStack,
    *,
    fewer: bool = False,  # accept fewer if others have leased the rest
) -> tuple[str, ...]:
    """Lease up to `wanted` usable phones of this machine (among the `named` ones, if any) that no
    process holds, not even another collector of the same run: on a cluster each leases its own.
    """
    listed = [each for each in server.devices() if not named or each.serial in named]
    free: list[str] = []
    held: dict[str, Holder] = {}
    for each in listed:
        if len(free) == wanted or not each.usable:
            continue
        if (lock := _locked(path := _lock_path(each.serial))) >= 0:
            opened.callback(_lease_of(lock, path, folder).release)
            free.append(each.serial)
        else:
            held[each.serial] = _read(path)
    least = 1 if named else wanted  # named phones may be on other machines
    if len(free) < wanted and not (fewer and len(free) + len(held) >= least):
        raise InvalidSetting(
            f"{wanted} phones are wanted on {socket.gethostname()}, {len(free)} are free, and adb "
            f"lists there: {_states(listed, held)}; connect more, or join the cluster with as many "
            f"as there are: distrl cluster join HEAD:PORT --resource phone={len(listed)}"
        )
    return tuple(free)


def _states(listed: Sequence[ListedDevice], held: dict[str, Holder]) -> str:
    def state(each: ListedDevice) -> str:
        return f"driven by {held[each.serial]}" if each.serial in held else each.state

    return ", ".join(f"{each.serial} ({state(each)})" for each in listed) or "none at all"


class _Lease:
    """A locked file that names its holder, and a lock on its folder against cleanup of /tmp.

    Forked child processes do not inherit the lease.
    """

    def __init__(self, lock: int, folder_lock: int) -> None:
        self._locks = [lock, folder_lock]
        forget = weakref.WeakMethod(self._close)
        os.register_at_fork(after_in_child=lambda: (close := forget()) and close())

    def release(self) -> None:
        for lock in self._locks[:1]:
            os.ftruncate(lock, 0)  # so that the next holder is not mistaken for this one
        self._close()

    def _close(self) -> None:
        locks, self._locks = self._locks, []
        for lock in locks:
            os.close(lock)


def _lease_of(lock: int, path: Path, folder: Path) -> _Lease:
    """Write this process as the holder into the locked file, and return the lease."""
    words = [Path(sys.argv[0]).name, *sys.argv[1:]]
    record = {
        "pid": os.getpid(),
        "folder": str(folder.absolute()),
        "command": shlex.join(words)[:MAX_COMMAND],
    }
    content = json.dumps(record).encode()
    try:
        os.ftruncate(lock, 0)
        if os.pwrite(lock, content, 0) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return _Lease(lock, keep_from_cleanup(path.parent))
    except OSError as error:
        os.close(lock)
        raise storage_error(error, f"leasing a phone by {path}") from error


def _locked(path: Path) -> int:
    """Like `try_lock`, but raise `StorageError` if the file cannot be opened or locked."""
    try:
        return try_lock(path)
    except OSError as error:
        raise storage_error(error, f"leasing a phone by {path}") from error


def _lock_path(serial: str) -> Path:
    try:
        temporary = Path(tempfile.gettempdir())
    except OSError as error:  # `gettempdir` tests whether it can write there
        raise storage_error(error, "finding a folder for the locks of phones") from error
    folder = make_private(temporary / f"distrl-phones-{os.getuid()}")
    return folder / quote(serial, safe="")


def _read(path: Path) -> Holder:
    """Return the holder that the file names; an empty `Holder` if that process is gone."""
    try:
        with path.open("rb") as file:
            record = json.loads(file.read(MAX_RECORD))
        holder = Holder(int(record["pid"]), str(record["folder"]), str(record["command"]))
        os.kill(holder.pid, 0)
    except (OSError, OverflowError, RecursionError, ValueError, TypeError, KeyError):
        return Holder()
    return holder if holder.pid > 0 else Holder()
