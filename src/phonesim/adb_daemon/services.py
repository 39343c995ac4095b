"""What a computer can open on a served phone: shells, file transfer, the picture. Nothing else.

Ports and sockets of the host (`tcp:`, `localabstract:`, `reverse:`, `jdwp:`) are never reached:
they are refused like every other name that is not in this table.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.shell_service import packets, plain
from phonesim.adb_daemon.streams import Inbox, Service
from phonesim.adb_daemon.sync_service import sync

logger = logging.getLogger(__name__)

FEATURES = "shell_v2,fixed_push_mkdir"  # delayed acknowledgements and compression are not offered
PRODUCT = "ro.product.name=distrl;ro.product.model=DistRL_Phone;ro.product.device=simulated"
BANNER = f"device::{PRODUCT};features={FEATURES}".encode()  # `adb devices -l` shows it


def open_service(handset: Handset, name: str) -> Callable[[Inbox], Service] | None:
    """The service of that name, ready to begin; None for what this phone does not have."""
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
        picture = handset.framebuffer()
    yield picture


def _words(said: str) -> Service:
    yield said.encode()
