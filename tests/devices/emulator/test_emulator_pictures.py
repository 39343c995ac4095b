"""Pictures over the emulator's gRPC service: those that adb shows, or an error, or not used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from android_env.proto import emulator_controller_pb2
from hypothesis import given
from hypothesis import strategies as st
from tests.devices.adb.scripted_adb_server import Script, okay, scripted_server, shell_answer
from tests.devices.adb.served_phones import AT_ONCE_SETTINGS, served_phones
from tests.devices.emulator.stand_in_pictures import How, StandInPictures, number, piece, serving
from tests.devices.emulator.stand_in_sdk import StandInSdk, stand_in_sdk

from distrl.devices.adb.adb import AdbLink
from distrl.devices.adb.adb_device import AdbDevice
from distrl.devices.adb.device_health import examine
from distrl.devices.adb.screen_capture import CAPTURES, RAW, Capture, fastest_capture
from distrl.devices.emulator.emulator_pictures import (
    REQUEST,
    EmulatorAdvertisement,
    EmulatorPictures,
    agree,
    pictures_of,
    read_image,
)
from distrl.devices.emulator.emulator_pool import EmulatedDevice, EmulatorPool, EmulatorPoolSettings
from distrl.errors import BrokenPicture, CommandRefused, DeviceDisconnected, DeviceTimeout
from distrl.records import OpenApp, Pixels
from phonesim.adb_daemon.handset import Handset


@dataclass
class Seen:
    """One phone from both sides: by a scripted adb server, and by the stand-in for gRPC."""

    handset: Handset
    service: StandInPictures
    port: int
    link: AdbLink
    pictures: EmulatorPictures

    def take(self, seconds: float = 10.0) -> Pixels:
        return self.pictures.take(self.link, seconds)


@contextmanager
def seen(
    how: How = "well", *, token: str = "", shown: str = "", turned: int = 0, large: bool = False
) -> Iterator[Seen]:
    handset = LargeHandset("large") if large else Handset("small")
    script: Script = {
        "host:transport:": b"OKAY",
        "host-serial:": okay("device"),
        "shell,v2,raw:screencap": shell_answer(handset.raw()),
        "shell,v2,raw:dumpsys window displays": shell_answer(
            f"mCurrentRotation=ROTATION_{turned}".encode()
        ),
    }
    service = StandInPictures(handset, token, how)
    with scripted_server(script) as server, serving(service) as port:
        pictures = EmulatorPictures(EmulatorAdvertisement(port, shown))
        try:
            yield Seen(handset, service, port, server.link("emulator-5600"), pictures)
        finally:
            pictures.close()


class LargeHandset(Handset):
    """With a screen of 1440 × 2880."""

    def frame(self) -> Pixels:
        return np.ascontiguousarray(super().frame().repeat(4, axis=0).repeat(4, axis=1))


@dataclass(frozen=True)
class Timed:
    """A capture that takes a given time on a clock of the test."""

    capture: Capture
    seconds: float
    clock: list[float]  # one number: the time

    @property
    def name(self) -> str:
        return self.capture.name

    def take(self, link: AdbLink, seconds: float = 10.0) -> Pixels:
        self.clock[0] += self.seconds
        return self.capture.take(link, seconds)


# The messages ------------------------------------------------------------------------------------


def test_the_messages_are_those_of_the_emulators_own_protocol() -> None:
    """AndroidEnv carries a copy of it."""
    kinds = emulator_controller_pb2.ImageFormat
    assert kinds.FromString(REQUEST) == kinds(format=kinds.RGB888)
    pixels = bytes(range(2 * 3 * 3))
    image = emulator_controller_pb2.Image(
        format=kinds(
            format=kinds.RGB888,
            rotation=emulator_controller_pb2.Rotation(xAxis=1.5, zAxis=-90.0),
            width=2,
            height=3,
            display=1,
            foldedDisplay=emulator_controller_pb2.FoldedDisplay(width=300),
        ),
        image=pixels,
        seq=70_000,
        timestampUs=2**63,
    )
    read = read_image(image.SerializeToString(), "phone")
    assert read is not None
    assert (read.shape, read.tobytes()) == ((3, 2, 3), pixels)
    assert read.flags.writeable
    image.format.rotation.rotation = 3
    assert read_image(image.SerializeToString(), "phone") is None  # turned


def test_the_stand_in_speaks_that_protocol() -> None:
    with seen() as phone:
        said = emulator_controller_pb2.Image.FromString(phone.service.image())
    assert (said.format.width, said.format.height) == (360, 720)
    assert said.image == phone.handset.frame().tobytes()


def test_a_message_that_is_cut_is_never_a_picture() -> None:
    layout = number(1, 2) + piece(2, number(1, 0)) + number(3, 5) + number(4, 2)
    pixels = bytes(30)
    whole = piece(1, layout) + piece(4, pixels)
    for length in range(len(piece(1, layout)) + 1, len(whole)):
        with pytest.raises(BrokenPicture, match=r"too early|without an end"):
            read_image(whole[:length], "phone")
    read = read_image(whole, "phone")
    assert read is not None
    assert read.shape == (2, 5, 3)
    for wrong in (pixels[:-1], pixels + b"x"):
        with pytest.raises(BrokenPicture, match="5 × 2 pixels"):
            read_image(piece(1, layout) + piece(4, wrong), "phone")


@pytest.mark.parametrize(
    "message",
    [
        piece(1, number(1, 0) + number(3, 5) + number(4, 2)) + piece(4, bytes(30)),  # a PNG
        piece(1, number(1, 2) + number(3, 2**40) + number(4, 0)) + piece(4, b"x"),
        piece(4, b"x"),
        number(1, 5) + piece(4, b"x"),
        piece(1, number(2, 5)) + piece(4, b"x"),
        piece(1, piece(3, b"x")) + piece(4, b"x"),
        number(4, 5),
        b"\x0b",  # a kind of field that protobuf gave up
        b"\xff" * 11,
    ],
)
def test_a_message_that_makes_no_sense_is_broken(message: bytes) -> None:
    with pytest.raises(BrokenPicture):
        read_image(message, "phone")


@given(st.binary(max_size=80))
def test_any_bytes_are_a_broken_picture_at_worst(message: bytes) -> None:
    with suppress(BrokenPicture):
        read_image(message, "phone")


# Pictures ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["well", "rgba"])
def test_the_picture_is_that_of_adb_pixel_for_pixel(how: How) -> None:
    with served_phones() as phones, phones.device() as device:
        service = StandInPictures(phones.handset(), "secret", how)
        with serving(service) as port:
            device.reset(0)
            pictures = EmulatorPictures(EmulatorAdvertisement(port, "secret"))
            for app in ("Settings", "Store", "Notes"):
                pixels = device.perform(OpenApp(app)).pixels
                assert np.array_equal(pictures.take(phones.link()), pixels)
            assert service.asked == 3
            pictures.close()


def test_a_large_screen_is_more_than_grpc_lets_through_by_itself() -> None:
    with seen(large=True) as phone:
        pixels = phone.take()
    assert pixels.nbytes > 4 << 20
    assert np.array_equal(pixels, phone.handset.frame())


def test_what_emulator_and_android_do_not_show_alike_comes_by_adb() -> None:
    cases: list[tuple[How, int]] = [("empty", 0), ("turned", 0), ("well", 90)]
    for how, turned in cases:
        with seen(how, turned=turned) as phone:
            assert np.array_equal(phone.take(), phone.handset.frame())
            assert phone.service.asked == 1
            phone.handset.perform(OpenApp("Settings"))  # the scripted adb still shows what was
            assert not np.array_equal(phone.take(), phone.handset.frame())


def test_a_picture_that_adb_does_not_show_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distrl.devices.emulator.emulator_pictures.COMPARE_SECONDS", 0.05)
    with seen("upside_down") as phone:
        with pytest.raises(CommandRefused, match="not the one that adb shows"):
            phone.take()
        best, seconds = fastest_capture(phone.link, (RAW, phone.pictures))
    assert (best.name, list(seconds)) == ("raw", ["raw"])


def test_pictures_agree_but_for_a_clock_and_faint_colours() -> None:
    one = Handset("phone").frame()
    clock = one.copy()
    clock[:30] = 255 - clock[:30]
    assert agree(one, clock)
    assert agree(one, np.clip(one.astype(int) + 9, 0, 255).astype(np.uint8))
    assert not agree(one, one[:-1])
    assert not agree(one, one[:, ::-1])


def test_a_picture_that_moves_is_compared_until_it_rests() -> None:
    with seen("upside_down") as phone:
        waited: Iterator[How] = iter(("upside_down", "upside_down", "well"))
        frame = phone.handset.frame

        def next_frame() -> Pixels:
            phone.service.how = next(waited, "well")
            return frame()

        phone.handset.frame = next_frame  # type: ignore[method-assign]
        assert np.array_equal(phone.take(), frame())
        assert phone.service.asked == 3


# What goes wrong ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shown", ["", "wrong"])
def test_without_the_right_token_it_is_refused(shown: str) -> None:
    with seen(token="right", shown=shown) as phone:
        with pytest.raises(CommandRefused, match=r"UNAUTHENTICATED.*token"):
            phone.take()
        best, seconds = fastest_capture(phone.link, (phone.pictures, RAW))
    assert (best.name, list(seconds)) == ("raw", ["raw"])


def test_a_service_that_is_silent_is_a_timeout() -> None:
    with seen("silent") as phone, pytest.raises(DeviceTimeout, match=r"within 0\.3 s"):
        phone.take(0.3)


def test_half_a_picture_is_broken_and_the_next_is_whole() -> None:
    with seen("half") as phone:
        with pytest.raises(BrokenPicture, match="360 × 720"):
            phone.take()
        phone.service.how = "well"
        assert np.array_equal(phone.take(), phone.handset.frame())


def test_a_service_that_dies_is_a_lost_phone_and_one_that_returns_is_found_at_once() -> None:
    with seen() as phone:
        with serving(StandInPictures(phone.handset)) as port:
            pictures = EmulatorPictures(EmulatorAdvertisement(port))
            pictures.take(phone.link)
        for _ in range(3):
            with pytest.raises(DeviceDisconnected, match="is the emulator running"):
                pictures.take(phone.link)
        with serving(StandInPictures(phone.handset), port):
            assert np.array_equal(pictures.take(phone.link), phone.handset.frame())
            pictures.close()


def test_a_service_without_the_method_is_refused() -> None:
    with seen() as phone, serving(phone.service, method="getStatus") as port:
        pictures = EmulatorPictures(EmulatorAdvertisement(port))
        with pytest.raises(CommandRefused, match="UNIMPLEMENTED"):
            pictures.take(phone.link)


# Which way is chosen -----------------------------------------------------------------------------


def test_it_is_chosen_where_it_is_faster_and_nowhere_else() -> None:
    clock = [0.0]
    with seen() as phone:
        for raw_takes, grpc_takes, fastest in ((0.1, 0.01, "grpc"), (0.01, 0.1, "raw")):
            ways = (
                Timed(phone.pictures, grpc_takes, clock),
                Timed(RAW, raw_takes, clock),
            )
            best, seconds = fastest_capture(phone.link, ways, clock=lambda: clock[0])
            assert best.name == fastest
            assert seconds == pytest.approx({"grpc": grpc_takes, "raw": raw_takes})


def test_without_the_package_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "avd" / "running").mkdir(parents=True)
    (tmp_path / "avd" / "running" / "pid_1.ini").write_text("port.serial=5600\ngrpc.port=8600\n")
    assert pictures_of(5600) is not None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert pictures_of(5600) is None


def test_nothing_is_opened_before_the_first_picture() -> None:
    """Collectors are forked, and gRPC must not have begun by then."""
    code = (
        "import sys, distrl.devices.emulator.emulator_pool\n"
        "import distrl.devices.emulator.emulator_pictures as p\n"
        "p.EmulatorPictures(p.EmulatorAdvertisement(1)).close()\n"
        "print('grpc' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# Emulators ---------------------------------------------------------------------------------------


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInSdk]:
    with stand_in_sdk(tmp_path, monkeypatch) as sdk:
        yield sdk


def test_an_emulator_is_played_by_its_own_pictures_until_it_dies(sdk: StandInSdk) -> None:
    emulator = sdk.emulator()
    emulator.boot()
    try:
        [started] = sdk.starts
        assert f"-grpc {emulator.ports.grpc} -grpc-use-token" in started
        pictures = emulator.pictures()
        assert pictures is not None
        start = emulator.fresh_start
        with AdbDevice("phone", emulator.link, AT_ONCE_SETTINGS, start, (pictures,)) as device:
            device.reset(0)
            assert device.capture is pictures
            home = device.screen().digest
            opened = device.perform(OpenApp("Settings"))
            assert np.array_equal(opened.pixels, RAW.take(emulator.link))
            device.reset(0)
            assert device.screen().digest == home
            assert "picture, grpc" in examine(emulator.link, rounds=1).latencies
            assert emulator.process_id is not None
            os.killpg(emulator.process_id, signal.SIGKILL)
            emulator.ends_within(5.0)
            with pytest.raises(DeviceDisconnected, match="gRPC port"):
                device.screen()
        pictures.close()
    finally:
        emulator.stop()


def test_an_emulator_too_old_for_grpc_is_started_without_it(sdk: StandInSdk) -> None:
    sdk.plan("too_old")
    emulator = sdk.emulator()
    try:
        emulator.boot()
        first, second = sdk.starts
        assert "-grpc" in first
        assert "-grpc" not in second
        assert emulator.pictures() is None
        assert "picture, grpc" not in examine(emulator.link, rounds=1).latencies
    finally:
        emulator.stop()


@pytest.mark.parametrize(
    ("behaviour", "measured"), [("slow_pictures", True), ("other_token", False)]
)
def test_a_seat_plays_by_adb_where_that_is_faster_or_all_there_is(
    sdk: StandInSdk, behaviour: str, measured: bool
) -> None:
    sdk.plan(behaviour)
    with (
        EmulatorPool(sdk.emulator, EmulatorPoolSettings(count=1, spares=0)) as pool,
        EmulatedDevice("seat-0", pool, AT_ONCE_SETTINGS) as device,
    ):
        device.reset(0)
        phone = device._here()
        assert ("grpc" in phone.capture_seconds) == measured
        assert phone.capture in CAPTURES
        assert device.perform(OpenApp("Settings")).width == 360
