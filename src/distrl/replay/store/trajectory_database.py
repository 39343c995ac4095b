"""The SQLite file of a trajectory store: its schema, its connections, and typed errors.

`trajectories` has a row for every trajectory that was ever stored: `seq` is its position in the
order of arrival, `correction` a later verdict, and `corrected` the position at which that was
written. Arrivals and corrections share one counter, so that "everything after position n" covers
both. `bodies` has the bytes that the collectors encoded, with a checksum of seq, id and body. When
a trajectory is dropped, its body is deleted, so that its pages are reused, and its row stays, so
that its id is never accepted again. Ids are bytes, because text may contain lone surrogates. A
correction is a new verdict on a stored trajectory (a checksum and JSON); it is stored beside the
trajectory's own bytes and replaces ending and verdict for every reader.

`TrajectoryStore` writes and `TrajectoryReader` reads. Nothing but numbers and bytes is stored.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from distrl.errors import CorruptRecord, DistrlError, StorageError, storage_error
from distrl.records import Ending, Trajectory, Verdict

NAME = "trajectories.sqlite"
VERSION = 1
PAGE_BYTES = 8192  # 4096: a third more time for trajectories of 190 kB; 16384: 3 % more disk
BUSY_SECONDS = 60.0  # readers block a writer only while they recover the log of a killed writer
BEFORE_SQLITE = "6795fae"  # the last commit that reads and writes segment files
SCHEMA = f"""
BEGIN;
CREATE TABLE trajectories (
    seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, corrected INTEGER, correction BLOB
);
CREATE INDEX corrections ON trajectories (corrected) WHERE corrected IS NOT NULL;
CREATE TABLE bodies (seq INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, body BLOB NOT NULL);
PRAGMA user_version = {VERSION};
COMMIT;
"""
# SQLITE_ERROR means an invalid header or schema here, because our statements are fixed and valid.
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def connect_writer(directory: Path, *, log_bytes: int, wait_for_disk: bool) -> sqlite3.Connection:
    """Open the database for its only writer; create it if needed, and sync its directory entry."""
    _refuse_segment_files(directory)
    connection = sqlite3.connect(
        directory / NAME, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    with ExitStack() as undo:
        undo.callback(connection.close)
        connection.text_factory = bytes
        for setting in (
            f"page_size = {PAGE_BYTES}",
            "journal_mode = WAL",
            # FULL: a commit returns when the log is on the disk. NORMAL: only a power cut can
            # lose commits, and it leaves a consistent file.
            f"synchronous = {'FULL' if wait_for_disk else 'NORMAL'}",
            f"wal_autocheckpoint = {max(1, log_bytes // PAGE_BYTES)}",
            f"journal_size_limit = {log_bytes}",
            "cell_size_check = ON",
        ):
            connection.execute(f"PRAGMA {setting}")
        if not _version(connection, directory):
            connection.executescript(SCHEMA)
            for folder in (directory, directory.parent):
                _sync_directory(folder)
        undo.pop_all()
    return connection


def connect_reader(directory: Path) -> sqlite3.Connection | None:
    """Open the database read-only, also while it is written to; None if there is none yet."""
    _refuse_segment_files(directory)
    path = directory / NAME
    if not path.exists():
        return None
    # In WAL mode readers create an index file (-shm). In a read-only directory without a log there
    # is no writer, so the file can be opened as immutable, without one.
    fixed = not os.access(directory, os.W_OK) and not Path(f"{path}-wal").exists()
    uri = f"file:{quote(str(path.absolute()))}?" + ("immutable=1" if fixed else "mode=ro")
    connection = sqlite3.connect(uri, timeout=BUSY_SECONDS, isolation_level=None, uri=True)
    with ExitStack() as undo:
        undo.callback(connection.close)
        connection.text_factory = bytes
        connection.execute("PRAGMA cell_size_check = ON")
        if _version(connection, directory):
            undo.pop_all()
            return connection
    return None


def _version(connection: sqlite3.Connection, directory: Path) -> int:
    """Return the schema version; 0 for a database without tables."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version not in (0, VERSION):
        raise CorruptRecord(
            f"{directory / NAME} is of version {version}, this reads version {VERSION}; read it "
            "with the version of distrl that wrote it"
        )
    return version


def _refuse_segment_files(directory: Path) -> None:
    if next(directory.glob("segment-*.records"), None) is not None:
        raise CorruptRecord(
            f"{directory} holds segment-*.records files: a trajectory store from before it moved "
            f"to SQLite, which this version does not read; use DistRL at commit {BEFORE_SQLITE} "
            "for this run, or give a new run a directory of its own"
        )


def _sync_directory(directory: Path) -> None:
    """Call fsync on a directory, so that its entries are on disk."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# Rows ---------------------------------------------------------------------------------------------


def id_bytes(trajectory_id: str) -> bytes:
    return trajectory_id.encode("utf-8", "surrogatepass")


def checksum_of(seq: int, name: bytes, body: bytes) -> int:
    """Return the CRC-32 of position, id and body; it detects damage, not attacks."""
    return zlib.crc32(body, zlib.crc32(b"%d %d %b" % (seq, len(name), name)))


@dataclass(frozen=True, slots=True)
class Correction:
    """The ending and the verdict that replace those of a stored trajectory."""

    ending: Ending
    verdict: Verdict

    def __post_init__(self) -> None:
        if not self.ending.judged:
            raise ValueError(f"a verdict with the ending {self.ending.value}, which has none")

    def applied_to(self, trajectory: Trajectory) -> Trajectory:
        return dataclasses.replace(trajectory, ending=self.ending, verdict=self.verdict)


def encode_correction(correction: Correction) -> bytes:
    verdict = correction.verdict
    text = json.dumps([correction.ending.value, *dataclasses.astuple(verdict)])
    return zlib.crc32(text.encode()).to_bytes(4, "little") + text.encode()


def decode_correction(data: bytes) -> Correction:
    """Decode a correction; raise `CorruptRecord`, whatever is wrong with the bytes."""
    try:
        if zlib.crc32(data[4:]).to_bytes(4, "little") != data[:4]:
            raise ValueError("its checksum is wrong")
        ending, success, reason, judge, *facts = json.loads(data[4:])
        progress, missing, collateral = facts or (None, [], [])  # older ones have no facts
        if (type(success), type(reason), type(judge)) != (bool, str, str):
            raise TypeError(f"{[success, reason, judge]!r} is no verdict")
        if not isinstance(progress, float | int | None) or not all(
            isinstance(name, str) for name in (*missing, *collateral)
        ):
            raise TypeError(f"{facts!r} are no facts of a verdict")
        verdict = Verdict(success, reason, judge, progress, tuple(missing), tuple(collateral))
        return Correction(Ending(ending), verdict)
    except (TypeError, ValueError, RecursionError) as error:
        raise CorruptRecord(
            f"{len(data)} bytes hold no correction ({type(error).__name__}: {error}); they are "
            "damaged, or were made by something else"
        ) from error


# Errors -------------------------------------------------------------------------------------------


@contextmanager
def typed_errors(directory: Path, tried: str) -> Iterator[None]:
    """Convert errors of SQLite and the operating system to `CorruptRecord` or `StorageError`."""
    try:
        yield
    except sqlite3.Error as error:
        if (code := _code(error)) is None:
            raise  # misuse of the API: a bug of ours
        raise _typed(error, code, directory, tried) from error
    except OSError as error:
        raise _failed(error, directory, tried) from error


def is_damage(error: sqlite3.Error) -> bool:
    return _code(error) in DAMAGE


def _code(error: sqlite3.Error) -> int | None:
    """Return SQLite's primary result code; None if the error is not from SQLite itself."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _typed(error: sqlite3.Error, code: int, directory: Path, tried: str) -> DistrlError:
    if code in DAMAGE:
        return CorruptRecord(
            f"{directory / NAME}: could not {tried}: {error}; the file is damaged: copy what can "
            f"be read with `sqlite3 {NAME} .recover`, or begin a new run"
        )
    if code == sqlite3.SQLITE_FULL:
        return _failed(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), directory, tried)
    return _failed(_reason(directory) or OSError(errno.EIO, str(error)), directory, tried)


def _failed(error: OSError, directory: Path, tried: str) -> StorageError:
    return storage_error(error, f"trajectory store {directory}: could not {tried}")


def _reason(directory: Path) -> OSError | None:
    """Find out why writing fails, which SQLite does not say: write a probe of the log's size."""
    probe = directory / ".probe"
    try:
        sizes = [path.stat().st_size for path in directory.glob(f"{NAME}*")]
        with probe.open("wb", buffering=0) as file:
            file.seek(max(sizes, default=0))
            file.write(bytes(PAGE_BYTES))
            os.fsync(file.fileno())
    except OSError as error:
        return error
    finally:
        try:
            probe.unlink(missing_ok=True)
        except OSError as error:
            return error
    return None
