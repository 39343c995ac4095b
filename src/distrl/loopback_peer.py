"""Find out which user of this machine is at the other end of a loopback connection.

No other machine can reach a loopback port, but every user of this machine can, whatever the
permissions of the files that are served there. Linux lists the owner of each connection
(/proc/net/tcp); a server looks up the owner when a client connects, so that nobody has to type a
token. psutil and `ss` list processes instead of owners, and those of other users are hidden.
"""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from typing import Any

Address = tuple[Any, ...]  # a socket address: host, port, and two more values for IPv6
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOCAL, REMOTE, USER, INODE = 1, 2, 7, 9  # columns of the tables
ROOT = 0  # trusted, since root may do anything anyway


def owners_are_known() -> bool:
    """Return whether this system lists the owners of connections."""
    return TABLES[0].exists()


def is_own_peer(peer: Address, own: Address) -> bool:
    """Return whether this user or root owns the local connection from `peer` to `own`."""
    return peer_user(peer, own) in {os.geteuid(), ROOT}


def peer_user(peer: Address, own: Address) -> int | None:
    """Return the user id of the peer; None if it is on another machine or has disconnected."""
    theirs, ours = _listed_forms(peer), _listed_forms(own)
    for table in TABLES:
        lines = table.read_text("ascii").splitlines()[1:] if table.exists() else []
        for columns in map(str.split, lines):
            if columns[LOCAL] in theirs and columns[REMOTE] in ours and columns[INODE] != "0":
                return int(columns[USER])  # inode 0: closed by its process, and listed as root's
    return None


def _listed_forms(address: Address) -> set[str]:
    """Return an address in the tables' notation; IPv4 also as an IPv6-mapped address."""
    host, port = str(address[0]).strip("[]"), int(address[1])
    try:
        if ":" in host:
            packed = [socket.inet_pton(socket.AF_INET6, host)]
        else:
            packed = [socket.inet_aton(host), bytes(10) + b"\xff\xff" + socket.inet_aton(host)]
    except OSError:  # a host name or an empty string: no connection has such an address
        return set()
    return {f"{_words(each)}:{port:04X}" for each in packed}


def _words(packed: bytes) -> str:
    """Return each four bytes as one number in native byte order, in hexadecimal."""
    return "".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", packed))
