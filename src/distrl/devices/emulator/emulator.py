"""One Android emulator: a child process that boots from a snapshot.

It runs headless and read-only, so that many emulators share one image and nothing is copied. A
reset loads the snapshot again instead of restarting. The emulator is ready when Android reports so
(booted, package manager answering, a window focused), not after a fixed time. If its process ends,
the error quotes the last lines of its log. `stop` signals only its own process group.

Snapshots are loaded over the emulator's console (`ask_console`), a line protocol on loopback: the
console greets, asks for the token in the home directory of the user that started it, and answers
each command with lines, the last of which begins with OK or KO.

The snapshot is taken once, of a ready phone (`save_snapshot`). Apps that tasks need, accounts and
ADBKeyboard are installed by hand before that, with `settings.window` on.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from distrl.bounds import Bounds, Checked, Fixed, Meaning
from distrl.devices.adb.adb import AdbLink, AdbServer
from distrl.devices.adb.adb_shell import PhoneShell
from distrl.devices.adb.adb_socket import Deadline
from distrl.devices.adb.android_state import read_focus
from distrl.devices.adb.android_tools import find_tool
from distrl.devices.emulator.emulator_pictures import EmulatorPictures, pictures_of
from distrl.devices.emulator.emulator_ports import EmulatorPorts, PortPair
from distrl.devices.emulator.process_watch import ProcessWatch
from distrl.errors import (
    CommandRefused,
    DeviceDisconnected,
    DeviceError,
    DeviceTimeout,
    EmulatorStopped,
)

LOOK_SECONDS = 0.1  # between two checks of a booting emulator
STOP_SECONDS = 10.0
DYING_SECONDS = 0.5  # for a process to exit after its connection broke
LOG_TAIL = 2000  # bytes of the log that an error quotes
Patience = Annotated[float, Bounds(0.0, 3600.0, "seconds", open=True)]
TOO_OLD = "unknown option: -grpc"  # in the log of an emulator without gRPC or gRPC tokens


@dataclass(frozen=True, slots=True)
class EmulatorSettings(Checked):
    """Virtual device, snapshot, and deadlines in seconds."""

    avd: Annotated[
        str, Meaning("name of a virtual device: `emulator -list-avds` has them", ".+")
    ] = "distrl"
    snapshot: Annotated[str, Meaning("name of a snapshot: docs/real-phones.md makes one")] = (
        "distrl"
    )
    boot_seconds: Annotated[float, Bounds(0.0, 3600.0, "seconds to boot", open=True)] = 240.0
    snapshot_seconds: Annotated[Patience, Fixed("a minute is long for a snapshot")] = 60.0
    answer_seconds: Annotated[Patience, Fixed("an emulator that is silent for 10 s hangs")] = 10.0
    gpu: Annotated[
        str, Meaning("the emulator's -gpu: swiftshader_indirect, or host with a graphics card")
    ] = "swiftshader_indirect"
    window: Annotated[bool, Fixed("runs show no windows; start the AVD by hand to watch")] = False
    grpc: Annotated[
        bool, Meaning("take pictures over its own service where that is faster than adb")
    ] = True
    read_only: Annotated[
        bool, Fixed("many emulators share the image; only `distrl prepare-emulator` writes to it")
    ] = True
    more_options: Annotated[
        tuple[str, ...], Meaning("further options of the emulator, such as -memory 2048 -cores 2")
    ] = ()


def command_line(
    settings: EmulatorSettings, console_port: int, program: Path, grpc_port: int | None = None
) -> list[str]:
    """Return the command that starts the emulator."""
    command = [str(program), "-avd", settings.avd, "-port", str(console_port)]
    if grpc_port is not None:  # without a token it would accept anyone on the network
        command += ["-grpc", str(grpc_port), "-grpc-use-token"]
    if settings.read_only:
        command += ["-read-only", "-snapshot", settings.snapshot, "-no-snapshot-save"]
    else:
        command += ["-no-snapshot-load", "-no-snapshot-save"]  # saved by `save_snapshot`
    command += ["-no-audio", "-no-boot-anim", "-gpu", settings.gpu]
    command += [] if settings.window else ["-no-window"]
    return [*command, *settings.more_options]


class Emulator:
    """One emulator, started or not yet. One thread at a time uses it, except for `stop`."""

    def __init__(
        self,
        settings: EmulatorSettings,
        server: AdbServer,
        ports: PortPair,
        log: Path,
        watch: ProcessWatch | None = None,  # kills the emulator if this process is killed
    ) -> None:
        self.settings = settings
        self.server = server
        self.ports = ports
        self.log = log
        self._watch = watch
        self._grpc = settings.grpc  # set to False once the emulator turns out to be too old
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
        """Return whether its process has ended, or ends by itself within `seconds`."""
        if self._process is None:
            return True
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    # Beginning and end -------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process; `wait_until_ready` waits until it can be used."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        grpc_port = self.ports.grpc if self._grpc else None
        command = command_line(self.settings, self.ports.console, find_tool("emulator"), grpc_port)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "ANDROID_ADB_SERVER_PORT": str(self.server.port)},
                start_new_session=True,  # its children are in its process group, and end with it
            )
        if self._watch is not None:
            self._watch.add(self._process.pid)

    def boot(self) -> None:
        """Start it and wait until it is ready; if it is too old for gRPC, start without gRPC."""
        self.start()
        try:
            self.wait_until_ready(self.settings.boot_seconds)
        except DeviceError as error:
            stopped = isinstance(error, EmulatorStopped)
            if not (stopped and self._grpc and TOO_OLD in self._log_tail()):
                self.stop()
                raise
            self._grpc = False
            self._forget()
            self.boot()

    def _forget(self) -> None:
        """Stop watching the ended process: its id may be reused."""
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
            _signal_group(process, signal.SIGKILL)  # kill children that outlived it
            self._forget()
        self.ports.release()

    # Readiness ---------------------------------------------------------------------------------

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until Android is booted, has packages and a focused window; on timeout, raise with
        what is missing.
        """
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
        """Return what is still missing; empty when it is ready."""
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
        """Return whether its process runs and its shell echoes in time."""
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
            f"{self._log_tail()!r}; its log is {self.log}"
        )

    def _log_tail(self) -> str:
        if not self.log.exists():
            return ""
        return self.log.read_bytes()[-LOG_TAIL:].decode("utf-8", "replace").strip()

    def pictures(self) -> EmulatorPictures | None:
        """Return its gRPC service for pictures; None if it has none (adb is used instead)."""
        found = pictures_of(self.ports.console) if self._grpc else None
        if found is None or found.advertisement.grpc_port != self.ports.grpc:
            return None  # the file was left over by another emulator
        return found

    # Snapshots ---------------------------------------------------------------------------------

    def fresh_start(self, shell: PhoneShell, seed: int) -> None:
        """Load the snapshot for an episode; all episodes start in this state, for any seed."""
        shell.close()  # loading the snapshot breaks its connection
        self.load_snapshot()

    def load_snapshot(self) -> None:
        """Restore the snapshot; all changes since then are lost."""
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


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal the process group; its id is that of the process that we started."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return


TOKEN_FILE = ".emulator_console_auth_token"
MAX_ANSWER = 1 << 20


def ask_console(port: int, command: str, seconds: float, home: Path | None = None) -> str:
    """Send one console command and return the answer; raise `CommandRefused` on KO."""
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
            f"the emulator's console wants the token in {home / TOKEN_FILE}, which cannot be read "
            f"({error.strerror}); start the emulator as the same user"
        ) from error


# Preparation, done once: `distrl prepare-emulator` ----------------------------------------------

CREATE_SECONDS = 600.0
SAVE_SECONDS = 300.0
DEFAULT_IMAGE = "system-images;android-34;google_apis;x86_64"


def create_virtual_device(name: str, image: str = DEFAULT_IMAGE, device: str = "pixel_6") -> None:
    """Run `avdmanager create avd`; raise, and change nothing, if the device exists."""
    command = [str(find_tool("avdmanager")), "create", "avd"]
    command += ["--name", name, "--package", image, "--device", device]
    try:
        done = subprocess.run(
            command,
            input=b"no\n",  # no custom hardware profile
            capture_output=True,
            timeout=CREATE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CommandRefused(
            f"`{' '.join(command)}` took longer than {error.timeout:g} s"
        ) from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-400:]
        raise CommandRefused(
            f"`{' '.join(command)}` failed: {said}; is the image installed? "
            f'sdkmanager "{image}" fetches it'
        )


def save_snapshot(
    settings: EmulatorSettings, server: AdbServer, log: Path, ports: EmulatorPorts | None = None
) -> None:
    """Cold-boot the virtual device, wait until it is ready, and save a snapshot."""
    writable = replace(settings, read_only=False)
    emulator = Emulator(writable, server, (ports or EmulatorPorts()).reserve(), log)
    try:
        emulator.boot()
        command = f"avd snapshot save {settings.snapshot}"
        ask_console(emulator.ports.console, command, SAVE_SECONDS)
    finally:
        emulator.stop()


def avd_screen_size(avd: str) -> tuple[int, int] | None:
    """Read width and height from the virtual device's config.ini; None if that fails."""
    home = os.environ.get("ANDROID_AVD_HOME") or Path.home() / ".android" / "avd"
    try:
        text = (Path(home) / f"{avd}.avd" / "config.ini").read_text("utf-8", "replace")
    except OSError:
        return None
    found = dict(re.findall(r"^hw\.lcd\.(width|height)\s*=\s*(\d+)\s*$", text, re.MULTILINE))
    return (int(found["width"]), int(found["height"])) if len(found) == 2 else None
