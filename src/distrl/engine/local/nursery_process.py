"""Where collectors are forked: `python -m distrl.engine.local.nursery_process`.

It imports everything that a collector needs, once, and does nothing else: no thread, no model, no
GPU, nothing open but the connection to its parent. Each time it is handed a collector's connection
and its log, it forks a grandchild that goes on as a collector, and leaves it to its own parent, the
learner, which has asked the kernel for orphans. So a collector is a child of the learner like any
other, starts in a fraction of a second, shares the memory of the imports, and outlives the nursery.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import struct
import sys
import traceback
from collections.abc import Callable

from distrl.engine.local.process_lifetime import die_with_parent, name_process, wait_for_adoption

PROCESS_ID = struct.Struct("<q")  # of a new collector; READY says that there may be some
READY = PROCESS_ID.pack(0)
FORK = b"fork"


def serve(control: socket.socket, parent: int, collect: Callable[[int, int], None]) -> None:
    """Fork whenever asked to, until the parent closes the connection."""
    control.send(READY)
    while True:
        asked, descriptors, _, _ = socket.recv_fds(control, len(FORK), 2)
        if not asked:
            return
        middle = os.fork()
        if not middle:
            _leave_a_grandchild(control, parent, descriptors, collect)
        for each in descriptors:
            os.close(each)
        os.waitpid(middle, 0)


def _leave_a_grandchild(
    control: socket.socket,
    parent: int,
    descriptors: list[int],
    collect: Callable[[int, int], None],
) -> None:
    """Never returns. The process in the middle says who its child is, and is gone."""
    code = 1
    try:
        child = os.fork()
        if child:
            control.send(PROCESS_ID.pack(child))
        else:
            control.close()
            link, log = descriptors
            _become_a_collector(parent, log)
            collect(link, parent)
        code = 0
    finally:  # whatever happened, nothing gets back into the loop of the nursery
        if code:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(code)


def _become_a_collector(parent: int, log: int) -> None:
    name_process("collector")
    os.setsid()  # Ctrl-C is for the parent, which tells its children
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    wait_for_adoption(parent)


def main() -> None:
    """Words: the connection, the parent's id, and what else to import beforehand."""
    descriptor, parent = map(int, sys.argv[1:3])
    die_with_parent(parent)
    name_process("distrl-nursery")
    for name in sys.argv[3:]:
        importlib.import_module(name)
    from distrl.engine.local.collector_process import live  # most of the seconds that a start takes

    gc.collect()
    gc.freeze()  # what is here already stays shared: no collection of a child's writes to it
    serve(socket.socket(fileno=descriptor), parent, live)
    os._exit(0)


if __name__ == "__main__":
    main()
