"""Which user of this machine is at the other end of a connection over loopback.

No other machine reaches a port on loopback, but every user of this one does, whatever the
permissions of the files that are served there. Linux lists the owner of each connection
(/proc/net/tcp); who listens asks for it when it is connected to, and no token need be typed. psutil
and `ss` know processes, which other users' are hidden, and not owners.
"""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from typing import Any

Address = tuple[Any, ...]  # of a socket: host, port, and for IPv6 two more
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOCAL, REMOTE, USER, INODE = 1, 2, 7, 9  # columns
ROOT = 0  # may do anything anyway


def owners_are_known() -> bool:
    """Does this system list the owners of connections?"""
    return TABLES[0].exists()


def is_own_peer(peer: Address, own: Address) -> bool:
    """Does the connection from `peer` to `own`, both here, belong to this user, or to root?"""
    return peer_user(peer, own) in {os.geteuid(), ROOT}


def peer_user(peer: Address, own: Address) -> int | None:
    """The user id behind a connection; None: it is not from here, or not there any more."""
    theirs, ours = _listed_forms(peer), _listed_forms(own)
    for table in TABLES:
        lines = table.read_text("ascii").splitlines()[1:] if table.exists() else []
        for columns in map(str.split, lines):
            if columns[LOCAL] in theirs and columns[REMOTE] in ours and columns[INODE] != "0":
                return int(columns[USER])  # one whose process has closed it is listed as root's
    return None


def _listed_forms(address: Address) -> set[str]:
    """An address as the tables have it; one of IPv4 may be that of a socket of IPv6."""
    host, port = str(address[0]).strip("[]"), int(address[1])
    try:
        if ":" in host:
            packed = [socket.inet_pton(socket.AF_INET6, host)]
        else:
            packed = [socket.inet_aton(host), bytes(10) + b"\xff\xff" + socket.inet_aton(host)]
    except OSError:  # a name, or nothing: no connection has that
        return set()
    return {f"{_words(each)}:{port:04X}" for each in packed}


def _words(packed: bytes) -> str:
    """Each four bytes as one number of this processor, in hexadecimal."""
    return "".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", packed))
