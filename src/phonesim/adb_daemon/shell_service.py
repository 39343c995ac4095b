"""A shell on a stream: one command line, or a session that reads lines as they come.

The first protocol is plain bytes. The second, `shell,v2`, has packets: stdout and stderr are
separate, and the exit code comes at the end.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.result import Result
from phonesim.adb_daemon.shell import Shell
from phonesim.adb_daemon.shell_line import MAX_LINE, SyntaxRefusal, Unfinished, read_line
from phonesim.adb_daemon.streams import Inbox, Service

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)
PACKET = struct.Struct("<BI")
PIECE = 2**18  # bytes of output in one packet
PROMPT = b"distrl:/ $ "
END_OF_INPUT = b"\x04"
MAX_OPEN_LINES = 64  # within one pair of quotes


def plain(handset: Handset, line: str, inbox: Inbox) -> Service:
    """Serve `shell:` and `exec:`: stdout and stderr in one stream, no exit code."""
    if not line.strip():
        yield from _session(handset, inbox, packets=False, terminal=True)
        return
    for result in Shell(handset).run(line):
        inbox.take()  # no command here reads what is typed while it runs
        yield result.out + result.error
        if result.seconds:
            yield from _pause(result.seconds, inbox)


def packets(handset: Handset, line: str, terminal: bool, inbox: Inbox) -> Service:
    """Serve `shell,v2:`, by packets."""
    if not line.strip():
        yield from _session(handset, inbox, packets=True, terminal=terminal)
        return
    shell = Shell(handset)
    for result in shell.run(line):
        inbox.take()
        yield _packed(result)
        if result.seconds:
            yield from _pause(result.seconds, inbox)
    yield _packet(EXIT, bytes([shell.code & 0xFF]))


def _pause(seconds: float, inbox: Inbox) -> Iterator[float]:
    while seconds == math.inf:  # until the computer hangs up
        yield math.inf
        inbox.take()
    yield seconds


def _packet(kind: int, data: bytes) -> bytes:
    return PACKET.pack(kind, len(data)) + data


def _packed(result: Result) -> bytes:
    pieces = [
        _packet(kind, data[start : start + PIECE])
        for kind, data in ((STDOUT, result.out), (STDERR, result.error))
        for start in range(0, len(data), PIECE)
    ]
    return b"".join(pieces)


def _session(handset: Handset, inbox: Inbox, packets: bool, terminal: bool) -> Service:
    """Run lines as they are typed, until `exit` or the end of the input."""
    shell, typed = Shell(handset), _typed(inbox) if packets else _bare(inbox)

    def written(data: bytes) -> bytes:
        return _packet(STDOUT, data) if packets else data

    if terminal:
        yield written(PROMPT)
    unread = b""
    for data in typed:
        if isinstance(data, float):
            yield data
            continue
        if terminal:  # a terminal shows what is typed on it
            yield written(data.replace(b"\r", b"\r\n"))
        ended = not data or END_OF_INPUT in data
        unread += data.replace(b"\r", b"\n").replace(END_OF_INPUT, b"")
        ready, unread = _whole_lines(unread + b"\n" if ended else unread)
        for line in ready:
            for result in shell.run(line):
                yield _packed(result) if packets else result.out + result.error
                if result.seconds:
                    yield result.seconds
            if terminal:
                yield written(PROMPT)
        if ended or shell.left or len(unread) > MAX_LINE:
            break
    if packets:
        yield _packet(EXIT, bytes([shell.code & 0xFF]))


def _whole_lines(typed: bytes) -> tuple[list[str], bytes]:
    """Return the lines that can run now, and the rest: an unfinished line or an open quote."""
    ready, begun = [], b""
    *whole, rest = typed.split(b"\n")
    for line in whole:
        begun += line
        text = begun.decode("utf-8", "replace")
        if _is_finished(text) or begun.count(b"\n") >= MAX_OPEN_LINES:
            ready.append(text)
            begun = b""
        else:
            begun += b"\n"
    return ready, begun + rest


def _is_finished(text: str) -> bool:
    try:
        read_line(text)
    except Unfinished:
        return False
    except SyntaxRefusal:
        return True  # and the shell says so
    return True


def _bare(inbox: Inbox) -> Iterator[bytes | float]:
    while True:
        yield inbox.take() if len(inbox) else math.inf


def _typed(inbox: Inbox) -> Iterator[bytes | float]:
    """Yield the input out of its packets; empty bytes at its end."""
    while True:
        kind, size = PACKET.unpack((yield from inbox.exactly(PACKET.size)))
        if size > 4 * MAX_LINE:
            yield b""
            return
        data = yield from inbox.exactly(size)
        if kind == STDIN and data:
            yield data
        elif kind == CLOSE_STDIN:
            yield b""
            return
