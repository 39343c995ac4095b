"""Nothing that a computer sends reaches the host: no process, no file, no connection, no crash.

Python itself is asked (audit events), so that it does not matter by which road it would happen.
"""

from __future__ import annotations

import random
import shlex
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.phonesim.adb_daemon.computer import Computer, wait_until_disconnected
from tests.phonesim.adb_daemon.shells import run

from phonesim.adb_daemon import messages as wire
from phonesim.adb_daemon.commands import COMMANDS
from phonesim.adb_daemon.connection import Limits
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.messages import Message
from phonesim.adb_daemon.phone_server import PhoneServer

FORBIDDEN = (
    "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "pty.", "open",
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.listdir",
    "os.scandir", "os.chmod", "os.truncate", "os.putenv", "os.kill", "shutil.", "socket.connect",
    "socket.bind", "socket.getaddrinfo", "ctypes.", "import", "exec", "compile", "pickle.",
    "urllib.", "webbrowser.", "marshal.",
)  # fmt: skip


class Watch:
    """Notes what a thread asks of the host. A hook cannot be taken away, so it is switched off."""

    def __init__(self) -> None:
        self.threads: set[int] | None = None  # None: nobody is watched
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.threads is None or not event.startswith(FORBIDDEN):
            return
        if threading.get_ident() in self.threads or threading.current_thread().name[:4] == "adb ":
            self.seen.append(f"{event} {arguments!r:.200}")

    @contextmanager
    def watching(self) -> Iterator[None]:
        self.seen.clear()
        self.threads = {threading.get_ident()}
        try:
            yield
        finally:
            self.threads = None


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


def test_the_watch_sees(watch: Watch) -> None:
    with watch.watching():
        Path(__file__).open().close()
        with socket.socket() as line:
            line.connect_ex(("127.0.0.1", 1))
    assert [said.split()[0] for said in watch.seen] == ["open", "socket.connect"]


NASTY = (
    "; touch /tmp/distrl-was-here", "| sh", "$(id)", "`id`", "> /tmp/distrl-was-here", "&& reboot",
    "../../../../etc/passwd", "/etc/passwd", "/proc/self/environ", "~/.ssh/id_rsa", "'", '"', "\\",
    "\n", "\x00", "%s%n", "${IFS}", "<(id)", "*", "{a,b}", "-rf", "--", "-", "/", "/sdcard", "é😀",
    "1", "-1", "9" * 30, "1e999", "nan", "com.distrl.notes", "com.distrl.notes/.HomeActivity",
    "2>&1", ">>", "<", "/sdcard/f", "list", "get", "put", "system", "start", "-a", "-d",
    "http://127.0.0.1:22/", "file:///etc/passwd", "dump", "reset", "snapshot", "restore", "tap",
    "text", "keyevent", "broadcast", "ADB_INPUT_B64", "--es", "msg", "x" * 300, "$HOME", "#", "&",
)  # fmt: skip


BEGINNINGS = (
    "input text", "input keyevent", "input tap 100", "input tap 180 400;", "input swipe 1 2 3 4",
    "settings put system", "settings get global", "am start -n", "am start -d", "am start -W -S -n",
    "am broadcast -a ADB_INPUT_TEXT --es msg", "am broadcast -a clipper.set -e text", "pm clear",
    "ime set com.android.adbkeyboard/.AdbIME;", "pm path", "pm list packages", "dumpsys package",
    "dumpsys window |", "screencap -p", "screencap >", "uiautomator dump", "cat", "echo x >",
    "cp /sdcard/f", "cmd simulation restore", "cmd simulation snapshot", "cmd statusbar",
    "cmd package resolve-activity", "svc wifi", "echo x | grep", "exec", "X=1", "monkey -p",
)  # fmt: skip


def nasty_line(rng: random.Random) -> str:
    """The beginning of a command and odd words behind it; most are quoted, so that they arrive."""
    words = [rng.choice((*BEGINNINGS, *COMMANDS, "sh", "python3", "su", "eval", "source", "nc"))]
    for _ in range(rng.randrange(4)):
        word = rng.choice(NASTY)
        words.append(shlex.quote(word) if rng.random() < 0.7 else word)
    return " ".join(words)


@pytest.fixture(scope="module")
def warm() -> Handset:
    """A phone that has drawn what it draws lazily: fonts are read when a letter is first drawn."""
    handset = Handset("warm", 1)
    for app in handset.phone.apps:
        handset.open_app(app)
        handset.png()
    run(handset, "cmd simulation reset 1; screencap -p; uiautomator dump; cmd simulation snapshot")
    return handset


def test_no_shell_line_reaches_the_host(watch: Watch, warm: Handset) -> None:
    rng = random.Random("nasty lines/1")
    with watch.watching():
        for _ in range(1500):
            said = run(warm, nasty_line(rng))
            assert 0 <= said.code <= 255
            assert phone_is_well(warm)
    assert not [each for each in watch.seen if not font_file(each)]


def phone_is_well(handset: Handset) -> bool:
    return handset.frame().shape == (720, 360, 3)


def font_file(seen: str) -> bool:
    """The letters that the phone draws come from files of its own, opened to be read."""
    return seen.startswith("open ") and "font_roboto" in seen and "'rb'" in seen


def list_of_connections(seen: str) -> bool:
    """Whose a connection is, the server asks the system, whatever came over it."""
    return seen.startswith("open ") and "/proc/net/tcp" in seen and "'r'" in seen


def test_no_bytes_on_the_socket_reach_the_host_or_end_the_phone(
    watch: Watch, warm: Handset
) -> None:
    rng = random.Random("nasty bytes/1")
    limits = Limits(connections=4)
    with PhoneServer([warm], limits=limits) as server:
        (phone,) = server.phones
        with watch.watching():
            assert watch.threads is not None
            watch.threads.clear()  # this thread plays the computer; the phone's are watched
            for _ in range(150):
                attack(rng, phone.port)
        wait_until_disconnected(phone)
        with Computer(phone.port) as computer:
            computer.hello()
            assert computer.run("exec:echo alive") == b"alive\n"
        wait_until_disconnected(phone)
    known = (font_file, list_of_connections)
    assert not [each for each in watch.seen if not any(is_known(each) for is_known in known)]


def attack(rng: random.Random, port: int) -> None:
    """One connection that misbehaves in one of several ways, and hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=60.0) as line:
        line.settimeout(2.0)  # for a phone that reads no more
        try:
            if rng.random() < 0.8:
                line.sendall(Message(wire.CONNECT, wire.VERSION, 2**20, b"host::").encode())
            for _ in range(rng.randrange(1, 30)):
                line.sendall(nasty_message(rng))
            if rng.random() < 0.5:
                line.settimeout(0.02)
                line.recv(65536)
        except (ConnectionError, TimeoutError):
            pass


def nasty_message(rng: random.Random) -> bytes:
    commands = (
        wire.OPEN,
        wire.OPEN,
        wire.WRITE,
        wire.READY,
        wire.CLOSE,
        wire.AUTHORIZE,
        wire.CONNECT,
    )
    match rng.randrange(10):
        case 0:
            return rng.randbytes(rng.randrange(1, 100))
        case 1:
            return Message(rng.choice(commands), 1, 1, rng.randbytes(rng.randrange(1500))).encode()
        case 2 | 3:
            service = rng.choice(("sync:", "shell:", "shell,v2,pty:", "shell,v2:", "framebuffer:"))
            return Message(wire.OPEN, rng.randrange(1, 5), 0, service.encode()).encode()
        case 4 | 5 | 6:
            kind = rng.choice(("shell:", "exec:", "shell,v2,raw:", "tcp:", "local:", ""))
            service = kind + nasty_line(rng)
            return Message(wire.OPEN, rng.randrange(1, 5), 0, service.encode() + b"\0").encode()
        case _:
            first, second = rng.randrange(4), rng.randrange(9)
            start = rng.choice((b"STAT", b"LIST", b"RECV", b"SEND", b"DATA", b"DONE", b"\0", b"\3"))
            path = rng.choice(NASTY).encode()
            payload = start + rng.choice((len(path), 0, 2**31, 5)).to_bytes(4, "little") + path
            return Message(rng.choice(commands), first, second, payload).encode()
