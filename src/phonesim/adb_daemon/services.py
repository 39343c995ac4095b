"""The adb services of a served phone: shells, file transfer, the framebuffer. Nothing else.

Ports and sockets of the host (`tcp:`, `localabstract:`, `reverse:`, `jdwp:`) cannot be reached:
they are refused like every other name that `open_service` does not list.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import partial

from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.shell_service import packets, plain
from phonesim.adb_daemon.streams import Inbox, Service
from phonesim.adb_daemon.sync_service import sync

logger = logging.getLogger(__name__)

FEATURES = "shell_v2,fixed_push_mkdir"  # delayed acknowledgements and compression are not offered
NOT_IN_BANNER = re.compile(r"[^\w.-]", re.ASCII)


def banner(handset: Handset) -> bytes:
    """Return the phone's identification for a new connection, which `adb devices -l` shows."""
    profile = handset.profile
    product, model, device = (
        NOT_IN_BANNER.sub("_", name) for name in (profile.product, profile.model, profile.device)
    )
    names = f"ro.product.name={product};ro.product.model={model};ro.product.device={device}"
    return f"device::{names};features={FEATURES}".encode()


def open_service(handset: Handset, name: str) -> Callable[[Inbox], Service] | None:
    """Return the service of that name; None if this phone does not have it."""
    kind, colon, rest = name.partition(":")
    modes = kind.split(",")
    match modes[0] if colon else "":
        case "shell" if "v2" in modes:
            return partial(packets, handset, rest, "pty" in modes)
        case "shell":
            return partial(plain, handset, rest)
        case "exec":
            return partial(plain, handset, rest or ":")
        case "sync" if not rest:
            return partial(sync, handset)
        case "framebuffer":
            return lambda inbox: _framebuffer(handset)
        case "root" | "unroot" | "remount":
            return lambda inbox: _words("adbd cannot run as root in production builds\n")
    logger.warning("%s: refused the service %.200r", handset.serial, name)
    return None


def _framebuffer(handset: Handset) -> Service:
    with handset.lock:
        seconds = handset.seconds_to_start("screencap")  # which is what adbd runs for it
    if seconds:
        yield seconds
    with handset.lock:
        picture = handset.framebuffer()
    yield picture


def _words(said: str) -> Service:
    yield said.encode()
