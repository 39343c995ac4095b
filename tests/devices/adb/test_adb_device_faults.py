"""Faults through the real protocol: each has its type, none is taken for the agent's failure.

Cables are pulled, stalled and broken on the phone's side, the adb server is killed by its process
id; the episode ends as a lost device, and the next reset brings the phone back.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from tests.devices.adb.scripted_adb_server import Script, scripted_server, shell_answer
from tests.devices.adb.served_phones import AT_ONCE_SETTINGS, ServedPhones, served_phones

from distrl.devices.adb.adb import AdbLink
from distrl.devices.adb.adb_device import AdbDevice, wake_and_unlock
from distrl.devices.adb.adb_shell import AdbShell
from distrl.devices.adb.device_health import examine
from distrl.devices.adb.screen_capture import FRAMEBUFFER, PNG, RAW, Capture
from distrl.episodes.episode import run_episode
from distrl.errors import (
    AdbServerGone,
    AppCrashed,
    BlankScreen,
    BrokenPicture,
    DeviceDisconnected,
    DeviceError,
    DeviceLocked,
    DeviceTimeout,
    DeviceUnauthorized,
)
from distrl.records import Action, Decision, Ending, Home, Observation, OpenApp, Pixels, Tap
from phonesim.adb_daemon.commands import dumpsys
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.fact_judge import FactJudge
from phonesim.tasks.task_sets import load_task

IMPATIENT = replace(AT_ONCE_SETTINGS, command_seconds=1.5)


@pytest.fixture
def phones() -> Iterator[ServedPhones]:
    with served_phones() as served:
        yield served


@pytest.fixture
def device(phones: ServedPhones) -> Iterator[AdbDevice]:
    with phones.device(settings=IMPATIENT) as device:
        device.reset(1)
        yield device


def stays_out_of_order(device: AdbDevice, kind: type[DeviceError]) -> None:
    for ask in (device.screen, device.elements, lambda: device.perform(Home())):
        with pytest.raises(kind, match="not reset since"):
            ask()


def test_a_phone_that_is_unplugged_is_disconnected_and_comes_back(
    phones: ServedPhones, device: AdbDevice
) -> None:
    phones.phones.unplug(0)
    with pytest.raises(DeviceDisconnected):
        device.perform(Tap(0.5, 0.5))
    stays_out_of_order(device, DeviceDisconnected)
    with pytest.raises(DeviceError):
        device.reset(1)  # it is still away
    phones.phones.plug_in(0)
    device.reset(1)
    assert device.screen().pixels.any()


def test_a_killed_server_is_said_and_a_new_one_is_found(
    phones: ServedPhones, device: AdbDevice
) -> None:
    phones.adb.kill()
    with pytest.raises(DeviceDisconnected):
        device.perform(Tap(0.5, 0.5))
    with pytest.raises(AdbServerGone, match="start-server"):
        device.reset(1)
    phones.adb.start()
    device.reset(1)
    assert device.perform(OpenApp("Settings")).pixels.any()


def test_a_phone_that_hangs_times_out(phones: ServedPhones, device: AdbDevice) -> None:
    phones.phones.phones[0].cable.stall()
    with pytest.raises(DeviceTimeout):
        device.perform(Tap(0.5, 0.5))
    stays_out_of_order(device, DeviceTimeout)
    phones.phones.phones[0].cable.flow()
    device.reset(1)


def test_a_cable_that_breaks_within_a_picture_is_a_lost_phone(
    phones: ServedPhones, device: AdbDevice
) -> None:
    phones.phones.phones[0].cable.break_after(3_000)  # the smallest picture has more bytes
    with pytest.raises(DeviceDisconnected):
        device.screen()
    device.reset(1)
    assert device.screen().pixels.any()


ACKNOWLEDGED = 24  # bytes by which the phone says that it has a command, before its output


def test_a_tap_whose_answer_is_lost_is_not_tapped_again(
    phones: ServedPhones, device: AdbDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    handset, done = phones.handset(), list[Action]()
    perform = handset.perform

    def counted(action: Action) -> None:
        done.append(action)
        perform(action)

    monkeypatch.setattr(handset, "perform", counted)
    phones.phones.phones[0].cable.break_after(ACKNOWLEDGED)
    with pytest.raises(DeviceDisconnected):
        device.perform(Tap(0.5, 0.5))
    stays_out_of_order(device, DeviceDisconnected)
    device.reset(1)
    assert [type(each) for each in done] == [Tap]


class HalfPictures:
    """The phone's picture, of which the lower half is missing for a number of times."""

    name = "half"

    def __init__(self, whole: Capture, times: int) -> None:
        self._whole = whole
        self.times = times

    def take(self, link: AdbLink, seconds: float = 10.0) -> Pixels:
        if self.times:
            self.times -= 1
            raise BrokenPicture(f"device {link.serial}: half a picture")
        return self._whole.take(link, seconds)


def test_a_half_written_picture_is_taken_again_and_then_an_error(device: AdbDevice) -> None:
    assert device.capture is not None
    whole = device.screen().digest
    device.capture = HalfPictures(device.capture, times=2)
    assert device.screen().digest == whole
    device.capture.times = 3
    with pytest.raises(BrokenPicture):
        device.screen()


HALF: dict[str, tuple[Capture, int]] = {
    "png": (PNG, 2),
    "raw": (RAW, 2),
    "framebuffer": (FRAMEBUFFER, 0),
}


@pytest.mark.parametrize("way", HALF)
def test_a_picture_that_the_phone_writes_by_half(
    phones: ServedPhones, device: AdbDevice, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Through the real server. The framebuffer's stream ends with it, and so the phone is lost."""
    device.capture, forgiven = HALF[way]
    whole, times = getattr(phones.handset(), way), [forgiven]
    seen = device.screen().digest

    def half() -> bytes:
        data: bytes = whole()
        times[0] -= 1
        return data[: len(data) // 2] if times[0] >= 0 else data

    monkeypatch.setattr(phones.handset(), way, half)
    assert device.screen().digest == seen
    times[0] = 3
    kind = BrokenPicture if forgiven else DeviceDisconnected
    with pytest.raises(kind):
        device.screen()
    stays_out_of_order(device, kind)
    times[0] = 0
    device.reset(1)
    assert device.screen().digest == seen


def test_a_command_that_never_returns_ends_at_its_deadline(device: AdbDevice) -> None:
    with pytest.raises(DeviceTimeout, match=r"0\.3 s"), device.at_work():
        device.shell.run("logcat", seconds=0.3)
    stays_out_of_order(device, DeviceTimeout)
    device.reset(1)
    assert device.shell.run("echo", "well") == "well\n"


def test_a_phone_that_is_offline_says_so_and_comes_back(phones: ServedPhones) -> None:
    """The daemon on the phone takes the connection and does not answer: adb calls it offline."""
    server, [address] = phones.adb.server, phones.phones.addresses
    cable = phones.phones.phones[0].cable
    server.disconnect(address)
    cable.stall()
    with ThreadPoolExecutor(1) as beside:
        connecting = beside.submit(server.connect, address, 30.0)
        try:
            end = time.monotonic() + 60.0
            while [each.state for each in server.devices()] != ["offline"]:
                assert time.monotonic() < end, server.devices()
                time.sleep(0.02)
            with pytest.raises(DeviceDisconnected, match="offline"):
                phones.link().shell("echo")
            assert not examine(phones.link(), 0).well
        finally:
            cable.flow()
        connecting.exception()  # whether it came in time is adb's affair
    with phones.device() as device:
        device.reset(1)
        assert device.screen().pixels.any()


def test_an_unauthorized_phone_says_what_to_do() -> None:
    with served_phones(ask=True) as phones:
        assert [each.state for each in phones.adb.server.devices()] == ["unauthorized"]
        with pytest.raises(DeviceUnauthorized, match="allow USB debugging"):
            phones.link().shell("echo")


def test_a_locked_phone_asks_for_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distrl.devices.adb.adb_device.UNLOCK_SECONDS", 0.05)
    script: Script = {
        "host:transport:": b"OKAY",
        "shell,v2,raw:dumpsys power": shell_answer(b"mWakefulness=Awake"),
        "shell,v2,raw:dumpsys window policy": shell_answer(b"  showing=true"),
        "shell,v2,raw:wm dismiss-keyguard": shell_answer(b""),
    }
    with scripted_server(script) as server, pytest.raises(DeviceLocked, match="unlock it by hand"):
        wake_and_unlock(AdbShell(server.link("phone"), keep_open=False))


def test_a_screen_that_stays_black_is_blank(
    phones: ServedPhones, device: AdbDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    black = np.zeros((720, 360, 3), np.uint8)
    monkeypatch.setattr(phones.handset(), "frame", lambda: black)
    with pytest.raises(BlankScreen, match="one colour"):
        device.screen()


def test_a_crash_dialog_is_a_crashed_app(
    device: AdbDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    device.perform(OpenApp("Settings"))
    title = "Application Error: com.distrl.settings"
    monkeypatch.setattr(dumpsys, "window_in_front", lambda phone: title)
    with pytest.raises(AppCrashed, match=title):
        device.perform(Tap(0.5, 0.5))
    stays_out_of_order(device, AppCrashed)


def test_a_fault_ends_the_episode_as_a_lost_device_and_never_as_a_failure(
    phones: ServedPhones, device: AdbDevice
) -> None:
    """With the judge of the simulated phone, which would have called it a failure."""
    task, _ = load_task("notes.create/train/0")
    twin = SimulatedDevice("twin")
    twin.reset(task.seed)
    judge = FactJudge(twin)

    class Unplugs:
        def decide(self, observations: Sequence[Observation]) -> list[Decision]:
            phones.phones.unplug(0)
            return [Decision(Tap(0.5, 0.5)) for _ in observations]

    ended = run_episode(task, device, Unplugs(), judge)
    assert ended.ending is Ending.DEVICE_LOST
    assert ended.verdict is None
    assert "DeviceDisconnected" in ended.notes[0]
