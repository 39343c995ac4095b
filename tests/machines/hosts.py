"""Hosts on one machine that share nothing but the installed software.

A host is a set of namespaces: its own network, pids, mounts (/tmp, /dev/shm and its home are empty
file systems of its own) and name. All hosts hang on one switch, a bridge in a network namespace of
its own, so that no address leaves them. The first process of a host reads from a pipe of ours:
when we end, however that is, it ends, and the kernel kills everything else on the host with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
HOME = "/tmp/home"  # of every host; its /tmp is its own
TOOLS = ("unshare", "nsenter", "ip", "mount")
START_SECONDS = 30.0
KEPT = ("HOME", "PATH", "LANG", "LC_ALL", "TERM")  # of our environment, beside what Python needs

FIRST_PROCESS = """
set -e
mount -t tmpfs tmpfs /dev/shm
for each in $SOFTWARE; do mkdir -p "/dev/shm$each"; mount --bind "$each" "/dev/shm$each"; done
mount -t tmpfs tmpfs /tmp
for each in $SOFTWARE; do mkdir -p "$each"; mount --move "/dev/shm$each" "$each"; done
find /dev/shm -mindepth 1 -type d -delete
mkdir -p "$HOME"
echo "$NAME" > /proc/sys/kernel/hostname
ip link set lo up
echo up
trap '' CHLD  # the kernel reaps orphans
exec cat > /dev/null
"""


def why_not() -> str | None:
    """Why this machine cannot have such hosts; None: it can."""
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        return f"hosts need {', '.join(missing)} (util-linux, iproute2) on this machine"
    if os.geteuid() != 0:
        return "hosts are network namespaces, which only root may make"
    tried = subprocess.run(
        ["unshare", "-n", "-m", "-p", "-u", "--fork", "ip", "link", "add", "type", "bridge"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"no namespaces here: {tried.stderr.strip()}" if tried.returncode else None


class Switch:
    """The network of the hosts. A context manager: all hosts end with it."""

    def __init__(self) -> None:
        self.hosts: list[Host] = []
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "ip link set lo up; echo up; exec cat > /dev/null"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()
        self.ip("link", "add", "switch", "type", "bridge")
        self.ip("link", "set", "switch", "up")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for host in self.hosts:
            host.kill()
        assert self._process is not None
        self._process.communicate()

    def add(self, name: str, environment: Mapping[str, str]) -> Host:
        """Start another host; `environment`: of every command on it, beside the least it needs."""
        host = Host(self, name, len(self.hosts) + 1, environment)
        self.hosts.append(host)
        host.start()
        return host

    def ip(self, *words: str) -> None:
        assert self._process is not None
        enter = ["nsenter", f"--target={self._process.pid}", "--net"]
        subprocess.run([*enter, "ip", *words], check=True, timeout=START_SECONDS)


class Host:
    """One machine; `Switch.add` starts it."""

    def __init__(
        self, switch: Switch, name: str, number: int, environment: Mapping[str, str]
    ) -> None:
        self.name = name
        self.address = f"10.77.0.{number}"
        self._switch = switch
        self._port = f"port{number}"
        self._environment = _environment(environment)
        self._process: subprocess.Popen[str] | None = None
        self._commands: list[Command] = []
        self.first = 0  # the pid, seen from here, of its first process

    def start(self) -> None:
        own = {"NAME": self.name, "SOFTWARE": " ".join(_below_tmp()), **self._environment}
        spaces = ["--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--mount-proc"]
        self._process = subprocess.Popen(
            ["unshare", *spaces, "bash", "-c", FIRST_PROCESS],
            env=own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said == "up\n", f"{self.name} did not start: {said}"
        self.first = _child(self._process.pid)
        self._switch.ip(
            *("link", "add", self._port, "type", "veth"),
            *("peer", "name", "eth0", "netns", str(self.first)),
        )
        self._switch.ip("link", "set", self._port, "master", "switch", "up")
        self.run("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        self.run("ip", "route", "add", "default", "dev", "eth0")

    @property
    def files(self) -> Path:
        """The root of its file system, seen from here."""
        return Path(f"/proc/{self.first}/root")

    @property
    def home(self) -> Path:
        return self.files / HOME.lstrip("/")

    def command(self, *words: str, environment: Mapping[str, str] | None = None) -> Command:
        """Start a command in its home; it ends with the host at the latest."""
        log = self.home / f"log-{len(self._commands)}"
        enter = ["nsenter", f"--target={self.first}", "--all", f"--wd={self.home}"]
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*enter, *words],
                env={**self._environment, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        command = Command(process, log)
        self._commands.append(command)
        return command

    def distrl(self, *words: str, environment: Mapping[str, str] | None = None) -> Command:
        """Start `distrl WORDS`."""
        program = "from distrl.cli.main import main; main()"
        return self.command(sys.executable, "-c", program, *words, environment=environment)

    def run(self, *words: str) -> str:
        """What a short command prints; it must succeed."""
        command = self.command(*words)
        assert command.wait(START_SECONDS) == 0, command.said()
        return command.said()

    def cut(self) -> None:
        """Pull its network cable."""
        self._switch.ip("link", "set", self._port, "down")

    def mend(self) -> None:
        self._switch.ip("link", "set", self._port, "up")

    def kill(self) -> None:
        """Turn it off: all its processes end at once, and its disk is gone."""
        if self._process is None:
            return
        if self.first:
            os.kill(self.first, signal.SIGKILL)
        else:  # it did not start; 0 would be all of us
            self._process.kill()
        self._process.communicate()
        for command in self._commands:
            command.wait(START_SECONDS)
        self._process = None


class Command:
    """A command on a host."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log
        self._last = b""

    def said(self) -> str:
        """All that it has printed so far."""
        with contextlib.suppress(OSError):  # its host is gone: what was read last
            self._last = self._log.read_bytes()
        return self._last.decode("utf-8", "replace")

    def is_running(self) -> bool:
        return self._process.poll() is None

    def wait(self, seconds: float) -> int:
        """Its exit code."""
        return self._process.wait(seconds)

    def interrupt(self) -> None:
        """As Ctrl-C does."""
        os.kill(_child(self._process.pid), signal.SIGINT)


def wait_until(happened: Callable[[], object], seconds: float, what: Callable[[], str]) -> float:
    """Seconds that it took; fails with `what` after too many."""
    begun = time.monotonic()
    while not happened():
        assert time.monotonic() < begun + seconds, f"not within {seconds:g} s: {what()}"
        time.sleep(0.2)
    return time.monotonic() - begun


def _child(pid: int) -> int:
    """The one child of unshare or nsenter, once it has forked."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    wait_until(listed.read_text, START_SECONDS, lambda: f"process {pid} has a child")
    return int(listed.read_text().split()[0])


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {
        **kept,
        "HOME": HOME,
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "300",
        **more,
    }


def _below_tmp() -> list[str]:
    """What every host has, and would be hidden by its own /tmp: this checkout and its Python."""
    needed = {ROOT, Path(sys.prefix), Path(sys.base_prefix)}
    hidden = [each for each in needed if each.is_relative_to("/tmp")]
    return [str(each) for each in hidden if not needed.intersection(each.parents)]
