"""One Android emulator: a process of ours, known by its id, that boots from a snapshot.

It runs without a window, read-only, so that many share one image and nothing is ever copied. A
reset loads the snapshot again instead of starting anew. It is ready when Android says so (booted,
package manager answering, a window focused) and not after a number of seconds. What ended it is
told with the last lines that it wrote. Ending it touches our own process group and nothing else.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from distrl.devices.adb.adb import AdbLink, AdbServer
from distrl.devices.adb.adb_shell import PhoneShell
from distrl.devices.adb.adb_socket import Deadline
from distrl.devices.adb.android_state import read_focus
from distrl.devices.adb.android_tools import find_tool
from distrl.devices.emulator.emulator_pictures import EmulatorPictures, pictures_of
from distrl.devices.emulator.emulator_ports import PortPair
from distrl.devices.emulator.process_watch import ProcessWatch
from distrl.errors import (
    CommandRefused,
    DeviceDisconnected,
    DeviceError,
    DeviceTimeout,
    EmulatorStopped,
    InvalidSetting,
)

LOOK_SECONDS = 0.1  # between two looks at an emulator that is booting
STOP_SECONDS = 10.0
DYING_SECONDS = 0.5  # in which a process ends whose connection has broken already
LAST_WORDS = 2000  # bytes of its log in an error
TOO_OLD = "unknown option: -grpc"  # said by an emulator that has no such service, or no token


@dataclass(frozen=True, slots=True)
class EmulatorSettings:
    """Which virtual device, from which snapshot, and how patient to be (seconds)."""

    avd: str = "distrl"
    snapshot: str = "distrl"  # docs/real-phones.md makes one
    boot_seconds: float = 240.0
    snapshot_seconds: float = 60.0
    answer_seconds: float = 10.0  # then it hangs
    gpu: str = "swiftshader_indirect"  # host, on a machine with a graphics card
    memory_megabytes: int | None = None  # as the AVD has it
    cores: int | None = None
    window: bool = False
    grpc: bool = True  # pictures over its own service too, where that is faster than adb
    read_only: bool = True  # many may share the image; turned off to make the snapshot
    more_options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.avd:
            raise InvalidSetting("avd=''; name a virtual device: `emulator -list-avds` has them")
        times = (self.boot_seconds, self.snapshot_seconds, self.answer_seconds)
        if not all(0.0 < seconds <= 3600.0 for seconds in times):
            raise InvalidSetting(
                f"boot_seconds={self.boot_seconds}, snapshot_seconds={self.snapshot_seconds}, "
                f"answer_seconds={self.answer_seconds}; give more than 0, up to an hour"
            )


def command_line(
    settings: EmulatorSettings, console_port: int, program: Path, grpc_port: int | None = None
) -> list[str]:
    """How the emulator is started."""
    words = [str(program), "-avd", settings.avd, "-port", str(console_port)]
    if grpc_port is not None:  # without a token it would listen to the whole network
        words += ["-grpc", str(grpc_port), "-grpc-use-token"]
    if settings.read_only:
        words += ["-read-only", "-snapshot", settings.snapshot, "-no-snapshot-save"]
    else:
        words += [
            "-no-snapshot-load",
            "-no-snapshot-save",
        ]  # saved when it is told to, under a name
    words += ["-no-audio", "-no-boot-anim", "-gpu", settings.gpu]
    words += [] if settings.window else ["-no-window"]
    if settings.memory_megabytes is not None:
        words += ["-memory", str(settings.memory_megabytes)]
    if settings.cores is not None:
        words += ["-cores", str(settings.cores)]
    return [*words, *settings.more_options]


class Emulator:
    """A started emulator, or one to be started. One thread at a time, except for `stop`."""

    def __init__(
        self,
        settings: EmulatorSettings,
        server: AdbServer,
        ports: PortPair,
        log: Path,
        watch: ProcessWatch | None = None,  # ends it should this process be killed
    ) -> None:
        self.settings = settings
        self.server = server
        self.ports = ports
        self.log = log
        self._watch = watch
        self._grpc = settings.grpc  # False on one that turned out to be too old
        self.link: AdbLink = server.link(f"emulator-{ports.console}")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def serial(self) -> str:
        return self.link.serial

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ends_within(self, seconds: float) -> bool:
        """Whether it is gone, or goes by itself so soon that it must be dying already."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    # Beginning and end -------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process; it is not ready before `wait_until_ready` says so."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        grpc_port = self.ports.grpc if self._grpc else None
        words = command_line(self.settings, self.ports.console, find_tool("emulator"), grpc_port)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "ANDROID_ADB_SERVER_PORT": str(self.server.port)},
                start_new_session=True,  # its children are in its group, and end with it
            )
        if self._watch is not None:
            self._watch.add(self._process.pid)

    def boot(self) -> None:
        """Start it and wait until it is ready; what does not get there is ended."""
        self.start()
        try:
            self._become_ready()
        except DeviceError:
            self.stop()
            raise

    def _become_ready(self) -> None:
        """One that does not know the options for gRPC has ended; it is started without them."""
        try:
            self.wait_until_ready(self.settings.boot_seconds)
        except EmulatorStopped:
            if not self._grpc or TOO_OLD not in self._last_words():
                raise
            self._grpc = False
            self._forget()
            self.start()
            self.wait_until_ready(self.settings.boot_seconds)

    def _forget(self) -> None:
        """Its process has ended, and the number may be somebody else's soon."""
        if self._watch is not None and self._process is not None:
            self._watch.remove(self._process.pid)

    def stop(self) -> None:
        """End the process and its group, and give the ports back."""
        process = self._process
        if process is not None:
            for force in (signal.SIGTERM, signal.SIGKILL):
                _signal_group(process, force)
                try:
                    process.wait(STOP_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    continue
            _signal_group(process, signal.SIGKILL)  # children that outlived it
            self._forget()
        self.ports.release()

    # Readiness ---------------------------------------------------------------------------------

    def wait_until_ready(self, seconds: float) -> None:
        """Booted, package manager answering, a window focused; or an error that says what lacks."""
        deadline = Deadline(seconds)
        lacking = "it has not shown up in adb"
        while not deadline.passed:
            self._check_process()
            try:
                lacking = self._lacking()
            except DeviceError as error:
                lacking = str(error)
            if not lacking:
                return
            time.sleep(min(LOOK_SECONDS, max(deadline.left, 0.0)))
        raise DeviceTimeout(
            f"emulator {self.serial} (AVD {self.settings.avd}, process {self.process_id}) was not "
            f"ready within {seconds:g} s: {lacking}; its log is {self.log}"
        )

    def _lacking(self) -> str:
        """What it still lacks; empty when it is ready."""
        patience = self.settings.answer_seconds
        if self.link.state(patience) != "device":
            return "adb has no connection to it"
        if self.link.shell("getprop sys.boot_completed", patience).text.strip() != "1":
            return "sys.boot_completed is not 1"
        if "package:" not in self.link.shell("pm path android", patience).text:
            return "the package manager does not answer"
        if read_focus(self.link.shell("dumpsys window", patience).text) is None:
            return "no window has the focus"
        return ""

    def answers(self) -> bool:
        """Whether it is alive: a process that runs, and a shell that echoes in time."""
        if not self.running:
            return False
        try:
            return self.link.shell("echo well", self.settings.answer_seconds).text.strip() == "well"
        except DeviceError:
            return False

    def _check_process(self) -> None:
        if self.running:
            return
        code = self._process.returncode if self._process else None
        raise EmulatorStopped(
            f"emulator {self.serial} (AVD {self.settings.avd}) ended with code {code}; it wrote: "
            f"{self._last_words()!r}; its log is {self.log}"
        )

    def _last_words(self) -> str:
        if not self.log.exists():
            return ""
        return self.log.read_bytes()[-LAST_WORDS:].decode("utf-8", "replace").strip()

    def pictures(self) -> EmulatorPictures | None:
        """Its own way to hand them out; None when it has none, and adb is all there is."""
        found = pictures_of(self.ports.console) if self._grpc else None
        if found is None or found.advertisement.grpc_port != self.ports.grpc:
            return None  # what was found is left over from another emulator
        return found

    # Snapshots ---------------------------------------------------------------------------------

    def load_snapshot(self) -> None:
        """Back to where the snapshot was taken: everything since is gone."""
        self._check_process()
        seconds = self.settings.snapshot_seconds
        command = f"avd snapshot load {self.settings.snapshot}"
        try:
            ask_console(self.ports.console, command, seconds)
        except DeviceDisconnected:
            if self.ends_within(DYING_SECONDS):
                self._check_process()
            raise
        self.wait_until_ready(seconds)


@dataclass(frozen=True, slots=True)
class LoadSnapshot:
    """A `FreshStart` for emulators. The seed plays no part: every episode begins alike."""

    emulator: Callable[[], Emulator]

    def begin(self, shell: PhoneShell, seed: int) -> None:
        shell.close()  # the phone that it is open on will be another one
        self.emulator().load_snapshot()


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    """The group has the number of the process that we started as its leader."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return


TOKEN_FILE = ".emulator_console_auth_token"
MAX_ANSWER = 1 << 20


def ask_console(port: int, command: str, seconds: float, home: Path | None = None) -> str:
    """The answer to one command, without its OK; KO is raised as `CommandRefused`."""
    deadline = Deadline(seconds)
    who = f"emulator console on port {port}"
    try:
        with socket.create_connection(("127.0.0.1", port), max(deadline.left, 0.001)) as line:
            greeting = _answer(line, who, deadline)
            if "Authentication required" in greeting:
                _say(line, f"auth {_token(home or Path.home())}", who, deadline)
            return _say(line, command, who, deadline)
    except TimeoutError as error:
        raise DeviceTimeout(f"{who}: no answer to {command!r} within {seconds:g} s") from error
    except OSError as error:
        raise DeviceDisconnected(
            f"{who}: {error.strerror or error}, at {command!r}; is the emulator running?"
        ) from error


def _say(line: socket.socket, command: str, who: str, deadline: Deadline) -> str:
    line.sendall(command.encode() + b"\r\n")
    return _answer(line, f"{who}, {command.split()[0]}", deadline)


def _answer(line: socket.socket, who: str, deadline: Deadline) -> str:
    received = b""
    while len(received) < MAX_ANSWER:
        line.settimeout(max(deadline.left, 0.001))
        piece = line.recv(4096)
        if not piece:
            raise DeviceDisconnected(f"{who}: it hung up after {received[-80:]!r}")
        received += piece
        lines = received.decode("utf-8", "replace").split("\r\n")
        last = lines[-2] if len(lines) > 1 and not lines[-1] else ""
        if last == "OK" or last.startswith("OK:"):
            return "\n".join(lines[:-2])
        if last.startswith("KO"):
            raise CommandRefused(f"{who}: {last.removeprefix('KO').lstrip(': ') or 'refused'}")
    raise CommandRefused(f"{who}: an answer without an end")


def _token(home: Path) -> str:
    try:
        return (home / TOKEN_FILE).read_text("ascii").strip()
    except OSError as error:
        raise CommandRefused(
            f"the emulator's console wants the word in {home / TOKEN_FILE}, which cannot be read "
            f"({error.strerror}); start the emulator as the same user"
        ) from error
