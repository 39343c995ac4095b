"""Plays Android's `emulator` and `avdmanager`: same words, same ports, a served phone inside.

Run as a program, under the name that it plays. It listens on the console port, serves the simulated
phone on the next one and tells the adb server, as the emulator does. Asked for gRPC, it serves
pictures there too and says so in `avd/running`. What it is to do wrong stands in the file
`$STAND_IN/plan.json`, one entry for each start: well, crashes, never_boots, too_old (for gRPC),
slow_pictures, other_token (than it says), first_to_act_dies (of those with this entry, one is
killed at its third action, which is in the middle of an episode).
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.devices.emulator.stand_in_pictures import StandInPictures, serving

from distrl.errors import DistrlError
from distrl.records import Action
from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.phone_server import PhoneServer
from phonesim.state import PhoneState

TOKEN = "a-word-for-the-console"
NEEDS_A_VALUE = {"-avd", "-port", "-snapshot", "-gpu", "-memory", "-cores", "-grpc"}
FLAGS = {
    "-read-only",
    "-no-snapshot-save",
    "-no-snapshot-load",
    "-no-audio",
    "-no-boot-anim",
    "-no-window",
    "-wipe-data",
    "-grpc-use-token",
}


def read_words(words: list[str]) -> dict[str, str]:
    """What was asked for; an option that the emulator does not have ends it, as there."""
    found = {}
    rest = list(words)
    while rest:
        option = rest.pop(0)
        if option in NEEDS_A_VALUE:
            found[option] = rest.pop(0)
        elif option in FLAGS:
            found[option] = "yes"
        else:
            sys.exit(f"emulator: unknown option: {option}")
    return found


def next_behaviour(folder: Path) -> str:
    """The first entry of the plan, which is taken off; without one all is well."""
    with (folder / "plan.json").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        plan = json.loads(file.read() or "[]")
        file.seek(0)
        file.truncate()
        file.write(json.dumps(plan[1:]))
    return str(plan[0]) if plan else "well"


class MortalHandset(Handset):
    """Kills its process at its third action, unless another emulator was killed before."""

    actions = 0

    def perform(self, action: Action) -> None:
        self.actions += 1
        if self.actions == 3:
            with suppress(FileExistsError), (Path(os.environ["STAND_IN"]) / "died").open("x"):
                os.kill(os.getpid(), signal.SIGKILL)
        super().perform(action)


class Console:
    """Answers on the console port: auth, avd snapshot load and save, kill."""

    def __init__(self, handset: Handset, snapshots: dict[str, PhoneState], folder: Path) -> None:
        self.handset = handset
        self.snapshots = snapshots
        self.folder = folder

    def serve(self, listener: socket.socket) -> None:
        while True:
            line, _ = listener.accept()
            threading.Thread(target=self._converse, args=(line,), daemon=True).start()

    def _converse(self, line: socket.socket) -> None:
        trusted = False
        with line, line.makefile("rb") as heard:
            line.sendall(b"Android Console: Authentication required\r\nOK\r\n")
            for command in heard:
                words = command.decode().split()
                if words[:1] == ["auth"]:
                    trusted = words[1:] == [TOKEN]
                    line.sendall(b"OK\r\n" if trusted else b"KO: wrong word\r\n")
                elif not trusted:
                    line.sendall(b"KO: unknown command, try 'help'\r\n")
                else:
                    line.sendall(self._obey(words).encode() + b"\r\n")

    def _obey(self, words: list[str]) -> str:
        match words:
            case ["avd", "snapshot", "load", name] if name in self.snapshots:
                self.handset.restore(self.snapshots[name])
                furnish(self.handset, booted=True)
                return "OK"
            case ["avd", "snapshot", "load", name]:
                return f"KO: no snapshot {name}"
            case ["avd", "snapshot", "save", name]:
                (self.folder / "saved-snapshot").write_text(name)
                return "OK"
            case ["kill"]:
                os._exit(0)
        return "KO: unknown command"


def furnish(handset: Handset, *, booted: bool) -> None:
    handset.properties["sys.boot_completed"] = "1" if booted else "0"
    handset.properties["ro.kernel.qemu"] = "1"


@contextmanager
def showing_pictures(handset: Handset, asked: dict[str, str], behaviour: str) -> Iterator[None]:
    """Over gRPC, if that was asked for. Who may read the file may look."""
    if "-grpc" not in asked:
        yield
        return
    assert "-grpc-use-token" in asked, "without a token the emulator listens to the whole network"
    token = secrets.token_urlsafe(48)
    wanted = "another" if behaviour == "other_token" else token
    pictures = StandInPictures(handset, wanted)
    pictures.how = "slow" if behaviour == "slow_pictures" else "well"
    said = {"port.serial": asked["-port"], "avd.id": asked["-avd"]}
    said |= {"grpc.port": asked["-grpc"], "grpc.token": token}
    folder = Path(os.environ["XDG_RUNTIME_DIR"]) / "avd" / "running"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with serving(pictures, int(asked["-grpc"])):
        text = "".join(f"{key}={value}\n" for key, value in said.items())
        (folder / f"pid_{os.getpid()}.ini").write_text(text)
        yield


def announce(server: int, port: int) -> None:
    """Tell the adb server of the daemon on this port; it answers nothing and closes when done."""
    service = f"host:emulator:{port}".encode()
    with socket.create_connection(("127.0.0.1", server), 15.0) as connection:
        connection.sendall(b"%04x" % len(service) + service)
        while connection.recv(4096):
            pass


def emulate(words: list[str]) -> None:
    asked, folder = read_words(words), Path(os.environ["STAND_IN"])
    with (folder / "starts.txt").open("a") as file:
        file.write(f"{os.getpid()} {' '.join(words)}\n")
    behaviour = next_behaviour(folder)
    if behaviour == "crashes":
        sys.exit("emulator: ERROR: x86 emulation currently requires hardware acceleration!")
    if behaviour == "too_old" and "-grpc" in asked:
        sys.exit("unknown option: -grpc\nplease use -help for a list of valid options")
    port = int(asked["-port"])
    kind = MortalHandset if behaviour == "first_to_act_dies" else Handset
    handset = kind(f"stand-in-{port}", seed=7, adb_keyboard=False, clipper=False)
    furnish(handset, booted=False)
    try:
        listener = socket.create_server(("127.0.0.1", port))
        phones = PhoneServer([handset], port + 1)
        phones.__enter__()
    except (OSError, DistrlError) as error:  # the emulator says so and ends
        sys.exit(f"emulator: ERROR: could not open port {port}: {error}")
    snapshots = {asked.get("-snapshot", "none"): handset.phone.snapshot()}
    console = Console(handset, snapshots, folder)
    with showing_pictures(handset, asked, behaviour):
        announce(int(os.environ["ANDROID_ADB_SERVER_PORT"]), port + 1)
        if behaviour != "never_boots":
            time.sleep(float(os.environ.get("STAND_IN_BOOT_SECONDS", "0.1")))
            furnish(handset, booted=True)
        console.serve(listener)


def manage(words: list[str]) -> None:
    """`avdmanager create avd`: notes what it was asked for."""
    if sys.stdin.readline() != "no\n":  # "Do you wish to create a custom hardware profile?"
        sys.exit("Error: no answer to the question about a hardware profile")
    folder = Path(os.environ["STAND_IN"])
    name = words[words.index("--name") + 1]
    if (folder / f"{name}.avd").exists() and "--force" not in words:
        sys.exit(f"Error: Android Virtual Device '{name}' already exists.")
    (folder / f"{name}.avd").write_text(" ".join(words))


if __name__ == "__main__":
    (manage if sys.argv[1] == "avdmanager" else emulate)(sys.argv[2:])
