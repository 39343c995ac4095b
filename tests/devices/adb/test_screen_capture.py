"""Pictures are whole or an error, however the phone writes them; the fastest way is chosen."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass

import numpy as np
import pytest
from PIL import Image
from tests.devices.adb.scripted_adb_server import Script, fail, okay, scripted_server, shell_answer

from distrl.devices.adb.adb import AdbLink
from distrl.devices.adb.screen_capture import (
    CAPTURES,
    FRAMEBUFFER,
    PNG,
    RAW,
    RGB_565,
    RGBA_8888,
    fastest_capture,
    read_png,
    read_raw,
)
from distrl.errors import BrokenPicture, CommandRefused, DeviceDisconnected
from distrl.records import Pixels

TO_PHONE: Script = {"host:transport:": b"OKAY"}
PICTURE = np.arange(6 * 4 * 3, dtype=np.uint8).reshape(6, 4, 3)
RGBA = np.concatenate([PICTURE, np.full((6, 4, 1), 255, np.uint8)], axis=-1).tobytes()
RAW_9 = struct.pack("<IIII", 4, 6, RGBA_8888, 0) + RGBA  # since Android 9
RAW_8 = struct.pack("<III", 4, 6, RGBA_8888) + RGBA
# version, bits, size, width, height, then offset and length of red, blue, green and alpha
FRAMEBUFFER_1 = struct.pack("<13I", 1, 32, len(RGBA), 4, 6, 0, 8, 16, 8, 8, 8, 24, 8) + RGBA
FRAMEBUFFER_2 = struct.pack("<14I", 2, 32, 0, len(RGBA), 4, 6, 0, 8, 16, 8, 8, 8, 24, 8) + RGBA
BGRA = np.ascontiguousarray(np.frombuffer(RGBA, np.uint8).reshape(6, 4, 4)[:, :, [2, 1, 0, 3]])
FRAMEBUFFER_BGRA = struct.pack("<13I", 1, 32, len(RGBA), 4, 6, 16, 8, 0, 8, 8, 8, 24, 8)


def png() -> bytes:
    written = io.BytesIO()
    Image.fromarray(PICTURE).save(written, "PNG")
    return written.getvalue()


@pytest.mark.parametrize("data", [RAW_9, RAW_8])
def test_raw_pictures_of_every_android(data: bytes) -> None:
    assert np.array_equal(read_raw(data, "phone"), PICTURE)


def test_a_raw_picture_with_two_bytes_a_pixel() -> None:
    data = struct.pack("<III", 2, 1, RGB_565) + struct.pack("<HH", 0xF800, 0x07FF)
    assert read_raw(data, "phone").tolist() == [[[248, 0, 0], [0, 252, 248]]]


@pytest.mark.parametrize("data", [RAW_9[:-1], RAW_9[:20], RAW_9 + b"x", b"", RAW_9[:8], b"x" * 99])
def test_a_raw_picture_that_is_cut_is_broken(data: bytes) -> None:
    with pytest.raises(BrokenPicture, match="no whole picture"):
        read_raw(data, "phone")


def test_a_png_is_read() -> None:
    assert np.array_equal(read_png(png(), "phone"), PICTURE)


@pytest.mark.parametrize("cut", [0, 4, 30, -1, -13])
def test_a_png_that_is_cut_is_broken(cut: int) -> None:
    with pytest.raises(BrokenPicture):
        read_png(png()[:cut], "phone")


def test_a_png_with_a_damaged_middle_is_broken() -> None:
    data = bytearray(png())
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(BrokenPicture, match="cannot be read"):
        read_png(bytes(data), "phone")


@pytest.mark.parametrize("data", [FRAMEBUFFER_1, FRAMEBUFFER_2, FRAMEBUFFER_BGRA + BGRA.tobytes()])
def test_framebuffers_of_every_version_and_order(data: bytes) -> None:
    with scripted_server(TO_PHONE | {"framebuffer:": b"OKAY" + data}) as server:
        assert np.array_equal(FRAMEBUFFER.take(server.link("phone")), PICTURE)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (FRAMEBUFFER_2[:-5], DeviceDisconnected),  # the phone was pulled out
        (struct.pack("<I", 7) + FRAMEBUFFER_2[4:], BrokenPicture),
        (struct.pack("<13I", 1, 32, 4, 4, 6, 0, 8, 16, 8, 8, 8, 24, 8) + RGBA, BrokenPicture),
        (struct.pack("<13I", 1, 32, 4, 2**31, 6, 0, 8, 16, 8, 8, 8, 24, 8) + RGBA, BrokenPicture),
    ],
)
def test_a_framebuffer_that_makes_no_sense_is_an_error(data: bytes, error: type[Exception]) -> None:
    with (
        scripted_server(TO_PHONE | {"framebuffer:": b"OKAY" + data}) as server,
        pytest.raises(error),
    ):
        FRAMEBUFFER.take(server.link("phone"))


def test_screencap_that_fails_says_what_the_phone_said() -> None:
    with (
        scripted_server(TO_PHONE | {"shell,v2,raw:screencap": shell_answer(b"", 1)}) as server,
        pytest.raises(CommandRefused, match="code 1"),
    ):
        RAW.take(server.link("phone"))


@dataclass(frozen=True)
class TimedCapture:
    """Takes the given seconds, one after the other, on a clock of the test."""

    name: str
    seconds: list[float]
    clock: list[float]  # one number: the time

    def take(self, link: AdbLink, seconds: float = 10.0) -> Pixels:
        self.clock[0] += self.seconds.pop()
        return PICTURE


def test_the_capture_with_the_shortest_median_is_chosen() -> None:
    clock = [0.0]
    with scripted_server({}) as server:
        ways = [
            TimedCapture("slow", [0.1, 2.0, 2.0], clock),
            TimedCapture("fast", [9.0, 1.0, 1.0], clock),
        ]
        best, seconds = fastest_capture(server.link("phone"), ways, clock=lambda: clock[0])
    assert best.name == "fast"
    assert seconds == pytest.approx({"slow": 2.0, "fast": 1.0})


def test_ways_that_do_not_work_are_left_out() -> None:
    script: Script = {
        "framebuffer:": fail("closed"),
        "shell,v2,raw:screencap -p": shell_answer(png()),
        "shell,v2,raw:screencap": shell_answer(RAW_9[:30]),
        "host-serial:": okay("device"),
    }
    with scripted_server(TO_PHONE | script) as server:
        best, seconds = fastest_capture(server.link("phone"), CAPTURES)
    assert best is PNG
    assert list(seconds) == ["png"]


def test_no_way_at_all_is_an_error_that_lists_them() -> None:
    script: Script = {"shell": shell_answer(b""), "host-serial:": okay("device")}
    with (
        scripted_server(TO_PHONE | script) as server,
        pytest.raises(BrokenPicture, match=r"framebuffer: .*raw: .*png: "),
    ):
        fastest_capture(server.link("phone"), CAPTURES)
