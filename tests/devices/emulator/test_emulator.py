"""One emulator, played by a stand-in on the PATH and reached through a real adb server."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.devices.adb.served_phones import AT_ONCE_SETTINGS
from tests.devices.emulator.stand_in_sdk import PORTS, StandInSdk, stand_in_sdk

from distrl.devices.adb.adb_device import AdbDevice
from distrl.devices.emulator.emulator import (
    Emulator,
    EmulatorSettings,
    ask_console,
    command_line,
    create_virtual_device,
    save_snapshot,
)
from distrl.devices.emulator.emulator_ports import EmulatorPorts
from distrl.errors import (
    CommandRefused,
    DeviceDisconnected,
    DeviceTimeout,
    EmulatorStopped,
    InvalidSetting,
    NotInstalled,
)
from distrl.records import OpenApp


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInSdk]:
    with stand_in_sdk(tmp_path, monkeypatch) as sdk:
        yield sdk


@pytest.fixture
def emulator(sdk: StandInSdk) -> Iterator[Emulator]:
    emulator = sdk.emulator()
    try:
        emulator.boot()
        yield emulator
    finally:
        emulator.stop()


def freeze(process: int) -> None:
    """The signal takes a moment to reach every thread."""
    os.killpg(process, signal.SIGSTOP)
    while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.005)


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_the_command_line_asks_for_no_window_no_copy_and_a_snapshot() -> None:
    settings = EmulatorSettings(avd="phone", more_options=("-memory", "2048", "-cores", "2"))
    words = command_line(settings, 5600, Path("emulator"))
    assert words[:5] == ["emulator", "-avd", "phone", "-port", "5600"]
    assert {"-no-window", "-read-only", "-no-snapshot-save"} <= set(words)
    assert words[words.index("-snapshot") + 1] == "distrl"
    assert words[words.index("-memory") + 1] == "2048"
    assert "-no-window" not in command_line(EmulatorSettings(window=True), 5600, Path("emulator"))
    assert "-grpc" not in words
    with_grpc = command_line(settings, 5600, Path("emulator"), grpc_port=8600)
    place = with_grpc.index("-grpc")
    assert with_grpc[place : place + 3] == ["-grpc", "8600", "-grpc-use-token"]  # never without


def test_it_boots_resets_by_its_snapshot_and_ends(sdk: StandInSdk) -> None:
    emulator = sdk.emulator()
    emulator.boot()
    process = emulator.process_id
    assert process is not None
    assert emulator.answers()
    start = emulator.fresh_start
    with AdbDevice("phone", emulator.link, AT_ONCE_SETTINGS, start) as device:
        device.reset(0)
        first = device.screen().digest
        assert device.perform(OpenApp("Settings")).digest != first
        device.reset(1)
        assert device.screen().digest == first
    assert len(sdk.starts) == 1  # nothing was started anew
    emulator.stop()
    assert gone(process)
    assert not emulator.running


def test_one_that_crashes_while_booting_tells_its_last_words(sdk: StandInSdk) -> None:
    sdk.plan("crashes")
    emulator = sdk.emulator(boot_seconds=3600.0)
    with pytest.raises(EmulatorStopped, match="requires hardware acceleration"):
        emulator.boot()  # at the deadline it would be a DeviceTimeout


@pytest.mark.slow
def test_one_that_never_boots_is_ended_at_the_deadline(sdk: StandInSdk) -> None:
    sdk.plan("never_boots")
    emulator = sdk.emulator(boot_seconds=4.0)
    with pytest.raises(DeviceTimeout, match=r"sys\.boot_completed"):
        emulator.boot()
    assert emulator.process_id is not None
    assert gone(emulator.process_id)


def test_a_killed_emulator_is_a_stopped_one(emulator: Emulator) -> None:
    assert emulator.process_id is not None
    os.killpg(emulator.process_id, signal.SIGKILL)
    with pytest.raises(DeviceDisconnected):
        _until_it_fails(emulator)
    assert not emulator.answers()
    with pytest.raises(EmulatorStopped, match="code -9"):
        emulator.load_snapshot()


def _until_it_fails(emulator: Emulator) -> None:
    end = time.monotonic() + 60.0  # a limit for the test itself; it fails within milliseconds
    while time.monotonic() < end:
        emulator.link.shell("echo")


def test_a_frozen_emulator_does_not_answer_and_can_be_ended(emulator: Emulator) -> None:
    assert emulator.process_id is not None
    freeze(emulator.process_id)
    assert emulator.running
    assert not emulator.answers()
    emulator.stop()
    assert gone(emulator.process_id)


def test_a_snapshot_that_is_not_there_is_refused(emulator: Emulator) -> None:
    with pytest.raises(CommandRefused, match="no snapshot other"):
        ask_console(emulator.ports.console, "avd snapshot load other", 5.0)


def test_the_console_wants_its_word(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(CommandRefused, match="as the same user"):
        ask_console(emulator.ports.console, "avd name", 5.0, home=tmp_path / "elsewhere")


def test_a_silent_console_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(DeviceTimeout):
        ask_console(listener.getsockname()[1], "avd name", 0.2)


def test_a_pair_whose_port_for_grpc_is_taken_is_passed_over() -> None:
    first = PORTS.reserve()
    first.release()
    with socket.create_server(("127.0.0.1", first.grpc)):
        second = PORTS.reserve()
        second.release()
    assert first.grpc == first.console + 3000
    assert second.console != first.console


def test_ports_are_never_given_out_twice_and_taken_ones_are_passed_over() -> None:
    first = PORTS.reserve()
    second = PORTS.reserve()
    third = None
    try:
        assert first.adb == first.console + 1
        assert second.console != first.console
        with socket.create_server(("127.0.0.1", 0)):
            first.release()
            with socket.create_server(("127.0.0.1", first.adb)):  # somebody else's emulator
                third = PORTS.reserve()
                assert third.console not in (first.console, second.console)
    finally:
        for pair in (first, second, *([third] if third is not None else [])):
            pair.release()


def test_a_range_without_a_free_pair_says_so() -> None:
    pair = EmulatorPorts(5682, 5682).reserve()
    try:
        with pytest.raises(InvalidSetting, match="taken"):
            EmulatorPorts(5682, 5682).reserve()
    finally:
        pair.release()
    with pytest.raises(InvalidSetting, match="even"):
        EmulatorPorts(5555)


def test_without_the_program_it_says_where_to_get_it(
    sdk: StandInSdk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("ANDROID_HOME", raising=False)
    monkeypatch.delenv("ANDROID_SDK_ROOT", raising=False)
    emulator = sdk.emulator()
    with pytest.raises(NotInstalled, match="ANDROID_HOME"):
        emulator.boot()
    emulator.stop()


# Preparation -------------------------------------------------------------------------------------


def test_a_virtual_device_is_made_once(sdk: StandInSdk) -> None:
    create_virtual_device("phone", "system-images;android-34;google_apis;x86_64")
    made = (sdk.folder / "phone.avd").read_text()
    assert "create avd --name phone --package system-images;android-34" in made
    with pytest.raises(CommandRefused, match="already exists"):
        create_virtual_device("phone")


def test_a_snapshot_is_taken_of_a_writable_phone_that_is_ready(sdk: StandInSdk) -> None:
    settings = EmulatorSettings(avd="phone", snapshot="clean", boot_seconds=30.0)
    save_snapshot(settings, sdk.adb.server, sdk.folder / "log", PORTS)
    assert (sdk.folder / "saved-snapshot").read_text() == "clean"
    [started] = sdk.starts
    assert "-read-only" not in started
    assert not Path(f"/proc/{started.split()[0]}").exists()


def test_one_that_does_not_boot_leaves_no_snapshot(sdk: StandInSdk) -> None:
    sdk.plan("crashes")
    with pytest.raises(EmulatorStopped):
        save_snapshot(EmulatorSettings(), sdk.adb.server, sdk.folder / "log", PORTS)
    assert not (sdk.folder / "saved-snapshot").exists()
