"""A headless Chromium as a child process: find it, start it, and end it with all its children.

The browser is controlled over its pipes only (`devtools`) and has its own profile folder. If this
process is killed, the pipe closes and the browser exits by itself; the next browser that the same
user starts removes the profile folder. As root it runs without Chromium's sandbox, which refuses to
start as root: use another user for pages that you do not trust.

`chromium-headless-shell` can be told when to draw a frame (`draws_on_demand`); an ordinary Chromium
cannot.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.devtools import DevTools, Json, Session
from distrl.errors import BrowserStopped, DeviceError, NotInstalled

PROGRAMS = (
    "chromium-headless-shell", "chrome-headless-shell", "headless_shell",
    "chromium", "chromium-browser", "google-chrome",
)  # fmt: skip
VARIABLE = "CHROMIUM"  # environment variable with the path of the browser
PREFIX = "distrl-browser-"
START_SECONDS, END_SECONDS = 30.0, 3.0
FLAGS = (
    "--headless", "--no-startup-window", "--remote-debugging-pipe", "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-extensions", "--disable-sync", "--disable-breakpad", "--disable-domain-reliability",
    "--disable-client-side-phishing-detection", "--no-pings", "--metrics-recording-only",
    "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication",
    "--password-store=basic", "--use-mock-keychain", "--mute-audio", "--hide-scrollbars",
    "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
    "--force-color-profile=srgb", "--font-render-hinting=none", "--disable-lcd-text",
    "--log-level=3", "--js-flags=--max-old-space-size=256",
)  # fmt: skip
ON_DEMAND = (
    "--enable-begin-frame-control", "--run-all-compositor-stages-before-draw",
    "--disable-new-content-rendering-timeout", "--disable-threaded-animation",
    "--disable-threaded-scrolling", "--disable-checker-imaging",
)  # fmt: skip
# Chromium expects its pipes as file descriptors 3 and 4; a shell moves them there.
MOVE_PIPES = 'exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null'


def find_chromium(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the browser that `CHROMIUM` names, or the first of `PROGRAMS` on the PATH."""
    if named := environment.get(VARIABLE, ""):
        found = shutil.which(named)
        if found is None:
            raise NotInstalled(
                f"no Chromium at {named!r}, which the environment variable {VARIABLE} names; give "
                "the path of one there, or unset it"
            )
        return Path(found)
    for program in PROGRAMS:
        if (found := shutil.which(program, path=environment.get("PATH"))) is not None:
            return Path(found)
    raise NotInstalled(
        f"no Chromium on the PATH (looked for {', '.join(PROGRAMS)}); install one, such as "
        f"`apt install chromium-headless-shell`, or name it in the environment variable {VARIABLE}"
    )


def draws_on_demand(program: Path) -> bool:
    """Return whether the browser draws frames on request only; headless shells can."""
    return "headless" in program.name


class Chromium:
    """A running browser. Any thread may open pages; each page belongs to one thread."""

    def __init__(
        self, process: subprocess.Popen[bytes], tools: DevTools, profile: Path, *, on_demand: bool
    ) -> None:
        self.process = process
        self.tools = tools
        self.profile = profile
        self.on_demand = on_demand
        self.pages = 0  # number of open pages; `BrowserPool` counts them
        self._lock = threading.Lock()  # guards the session of the browser itself

    @classmethod
    def start(
        cls, program: Path, allowed: AllowedOrigins, scale: float = 1.0, *, on_demand: bool = False
    ) -> Self:
        """Start a browser and wait until it answers; `scale`: pixels per CSS pixel."""
        remove_left_profiles(Path(tempfile.gettempdir()))
        profile = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        command = [str(program), *flags(profile, allowed, on_demand=on_demand)]
        command.append(f"--force-device-scale-factor={scale:g}")  # on-demand frames ignore others
        reading, commands = os.pipe()
        answers, writing = os.pipe()
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", MOVE_PIPES, *command],
                stdin=reading,
                stdout=writing,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # its own process group, so that all of it can be killed
            )
        finally:
            os.close(reading)
            os.close(writing)
        browser = cls(process, DevTools(commands, answers), profile, on_demand=on_demand)
        try:
            browser.call("Browser.getVersion", START_SECONDS)
        except DeviceError as error:
            browser.close()
            raise BrowserStopped(
                f"{program} did not start ({error}); try it: {program} --headless --dump-dom "
                f"about:blank{' --no-sandbox' if os.geteuid() == 0 else ''}"
            ) from error
        return browser

    def call(self, method: str, seconds: float = 10.0, **params: object) -> Json:
        """Send a command to the browser itself (not to a page), and return its answer."""
        with self._lock:
            return self.tools.browser.call(method, seconds, **params)

    def attach(self, name: str, target: str) -> Session:
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        return self.tools.session(name, str(found["sessionId"]))

    @property
    def running(self) -> bool:
        return self.process.poll() is None and not self.tools.closed

    def close(self) -> None:
        """End the browser and all of its processes, and remove its profile."""
        self.tools.close()
        with suppress(subprocess.TimeoutExpired):  # it hangs: kill it
            self.process.wait(END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the browser and its process group at once."""
        with suppress(ProcessLookupError, PermissionError):  # all its processes have ended
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.tools.close()
        _remove(self.profile)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def flags(profile: Path, allowed: AllowedOrigins, *, on_demand: bool) -> tuple[str, ...]:
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    drawing = ON_DEMAND if on_demand else ()
    return (*FLAGS, *root, *drawing, *allowed.flags, f"--user-data-dir={profile}")


def remove_left_profiles(folder: Path) -> None:
    """Remove the profiles of killed processes; a profile's name has its process id."""
    for profile in folder.glob(f"{PREFIX}*"):
        owner = profile.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists() and _is_ours(profile):
            _remove(profile)


def _is_ours(path: Path) -> bool:
    try:
        return path.stat().st_uid == os.geteuid()
    except FileNotFoundError:
        return False


def _remove(profile: Path) -> None:
    """Remove a profile. Exiting children of the browser may still write to it: retry a few times,
    then leave it.
    """
    for _ in range(5):
        shutil.rmtree(profile, ignore_errors=True)
        if not profile.exists():
            return
        time.sleep(0.02)
