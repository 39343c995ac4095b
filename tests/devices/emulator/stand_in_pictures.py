"""Plays the emulator's gRPC service for pictures, on the screen of a served phone.

It writes its messages in protobuf's form by itself; a test holds that form beside the emulator's
own definition. `how` says what it does wrong, and may be changed while it runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Literal

import grpc
import numpy as np

from phonesim.adb_daemon.handset import Handset

SERVICE, METHOD = "android.emulation.control.EmulatorController", "getScreenshot"
RGBA8888, RGB888 = 1, 2
How = Literal["well", "rgba", "half", "empty", "turned", "upside_down", "silent", "slow"]
SLOW_SECONDS = 1.0


def number(field: int, value: int) -> bytes:
    return written(field << 3) + written(value)


def piece(field: int, content: bytes) -> bytes:
    return written(field << 3 | 2) + written(len(content)) + content


def written(value: int) -> bytes:
    low = bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
    return low + (written(value >> 7) if value > 0x7F else b"")


class StandInPictures:
    """Answers getScreenshot."""

    def __init__(self, handset: Handset, token: str = "", how: How = "well") -> None:
        self.handset = handset
        self.token = token
        self.how: How = how
        self.asked = 0
        self.closed = threading.Event()

    def screenshot(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        self.asked += 1
        shown = dict(context.invocation_metadata()).get("authorization")
        if self.token and shown != f"Bearer {self.token}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is not valid")
        assert request == number(1, RGB888)
        if self.how == "silent":
            self.closed.wait(60.0)
        if self.how == "slow":
            self.closed.wait(SLOW_SECONDS)
        return self.image()

    def image(self) -> bytes:
        with self.handset.lock:
            frame = self.handset.frame()
        if self.how == "empty":
            return b""
        if self.how == "turned":
            frame = np.rot90(frame)
        if self.how == "upside_down":
            frame = frame[::-1]
        kind = RGBA8888 if self.how == "rgba" else RGB888
        if kind == RGBA8888:
            frame = np.concatenate([frame, np.full_like(frame[..., :1], 255)], axis=-1)
        pixels = np.ascontiguousarray(frame).tobytes()
        turned = number(1, 1 if self.how == "turned" else 0)
        height, width = frame.shape[:2]
        layout = number(1, kind) + piece(2, turned) + number(3, width) + number(4, height)
        sent = pixels[: len(pixels) // 2] if self.how == "half" else pixels
        return piece(1, layout) + piece(4, sent) + number(6, 1_700_000_000_000_000)


@contextmanager
def serving(pictures: StandInPictures, port: int = 0, method: str = METHOD) -> Iterator[int]:
    """On loopback; the port is what it was given, or a free one."""
    methods = {method: grpc.unary_unary_rpc_method_handler(pictures.screenshot)}
    handler = grpc.method_handlers_generic_handler(SERVICE, methods)
    options = (("grpc.so_reuseport", 0), ("grpc.max_send_message_length", -1))
    server = grpc.server(ThreadPoolExecutor(2), handlers=[handler], options=options)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    try:
        yield bound
    finally:
        pictures.closed.set()
        server.stop(None).wait()
