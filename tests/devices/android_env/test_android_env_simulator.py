"""A served phone behind DeepMind's AndroidEnv, through its own `AdbController` and a real adb."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.devices.adb.served_phones import ServedPhones, served_phones
from tests.devices.adb.test_adb_device import ERRAND

from distrl.devices.adb.adb_device import new_simulation
from distrl.devices.adb.android_tools import find_tool
from distrl.devices.adb.stillness import AT_ONCE
from distrl.errors import ActionFailed, CommandRefused, DeviceDisconnected
from distrl.records import Back, OpenApp, Tap, TypeText
from phonesim.finger import Finger
from phonesim.simulated_device import SimulatedDevice

pytest.importorskip("android_env", reason="AndroidEnv comes with distrl[android-env]")

from android_env.components import action_type, adb_call_parser
from android_env.components.adb_controller import AdbController
from android_env.components.errors import SendActionError
from android_env.proto.adb_pb2 import AdbRequest, AdbResponse

from distrl.devices.adb.android_device import AndroidDeviceSettings
from distrl.devices.android_env import android_env_simulator
from distrl.devices.android_env.android_env_device import AndroidEnvDevice
from distrl.devices.android_env.android_env_simulator import (
    AdbSimulator,
    AdbSimulatorSettings,
    open_environment,
)

pytestmark = pytest.mark.usefixtures("own_surroundings")
QUICK = AndroidDeviceSettings(
    stillness=AT_ONCE, launch_seconds=0.1, blank_seconds=0.1, long_press_seconds=0.1
)


@pytest.fixture(scope="module")
def phones() -> Iterator[ServedPhones]:
    with served_phones() as served:
        yield served


def settings_of(phones: ServedPhones) -> AdbSimulatorSettings:
    return AdbSimulatorSettings(phones.phones.addresses[0], phones.adb.port)


def test_every_adb_request_of_androidenv_is_answered(phones: ServedPhones) -> None:
    phones.handset().reset(5)
    controller = AdbSimulator(settings_of(phones)).create_adb_controller()
    parser = adb_call_parser.AdbCallParser(controller)

    def ask(**command: Any) -> Any:
        response = parser.parse(AdbRequest(**command))
        assert response.status == AdbResponse.Status.OK, response
        return response

    settings, packages = AdbRequest.SettingsRequest, AdbRequest.PackageManagerRequest
    notes = "com.distrl.notes/com.distrl.notes.HomeActivity"
    ask(start_activity=AdbRequest.StartActivity(full_activity=notes, force_stop=True))
    front = ask(get_current_activity=AdbRequest.GetCurrentActivity())
    assert front.get_current_activity.full_activity == notes
    ask(start_screen_pinning=AdbRequest.StartScreenPinning(full_activity=notes))
    for label, role in (("New note", None), ("Text", "field")):
        x, y = Finger(phones.handset().phone).find(label, role).centre
        ask(tap=AdbRequest.Tap(x=x, y=y))
    ask(input_text=AdbRequest.InputText(text="hello"))
    assert phones.handset().text == "hello"
    for button in ("ENTER", "BACK", "HOME"):
        pressed = AdbRequest.PressButton.Button.Value(button)
        ask(press_button=AdbRequest.PressButton(button=pressed))
    assert phones.handset().phone.state.front == "Launcher"
    ask(force_stop=AdbRequest.ForceStop(package_name="com.distrl.notes"))
    ask(send_broadcast=AdbRequest.SendBroadcast(action="com.example.NOTHING"))
    ask(push=AdbRequest.Push(path="/sdcard/file", content=b"\x00\xff"))
    assert ask(pull=AdbRequest.Pull(path="/sdcard/file")).pull.content == b"\x00\xff"
    upright = ask(get_orientation=AdbRequest.GetOrientationRequest())
    assert upright.get_orientation.orientation == 0
    space = settings.Namespace.SYSTEM
    ask(settings=settings(name_space=space, put=settings.Put(key="font_scale", value="1.3")))
    read = ask(settings=settings(name_space=space, get=settings.Get(key="font_scale")))
    assert read.settings.output == b"1.3\n"
    ask(settings=settings(name_space=space, delete_key=settings.Delete(key="own")))
    assert (
        b"font_scale"
        in ask(settings=settings(name_space=space, list=settings.List())).settings.output
    )
    listing = packages.List(packages=packages.List.Packages())
    assert (
        "com.distrl.notes" in ask(package_manager=packages(list=listing)).package_manager.list.items
    )
    ask(package_manager=packages(clear=packages.Clear(package_name="com.distrl.notes")))
    ask(package_manager=packages(grant=packages.Grant(
        package_name="com.distrl.notes", permissions=["android.permission.CAMERA"])))  # fmt: skip
    dump = ask(dumpsys=AdbRequest.DumpsysRequest(service="window")).dumpsys.output
    assert b"com.distrl.launcher" in dump
    model = ask(generic=AdbRequest.GenericRequest(args=["shell", "getprop", "ro.product.model"]))
    assert model.generic.output == b"DistRL Phone\n"


def test_androidenv_steps_a_served_phone(phones: ServedPhones) -> None:
    """As somebody's own code for AndroidEnv would: no adapter of ours above it."""
    handset = phones.handset()
    handset.reset(5)
    with closing(open_environment(settings_of(phones))) as environment:
        spec = environment.observation_spec()
        first = environment.reset()
        assert first.first()
        spec["pixels"].validate(first.observation["pixels"])
        assert np.array_equal(first.observation["pixels"], handset.phone.frame())
        x, y = Finger(handset.phone).find("Settings").centre
        place = np.array([(x + 0.5) / 360, (y + 0.5) / 720], np.float32)
        for kind in (action_type.ActionType.TOUCH, action_type.ActionType.LIFT):
            action = {"action_type": np.array(kind), "touch_position": place}
            step = environment.step(action)
        assert step.mid()
        assert handset.phone.state.front == "Settings"
        assert np.array_equal(step.observation["pixels"], handset.phone.frame())
        assert np.array_equal(step.observation["orientation"], [1, 0, 0, 0])


def test_through_androidenv_the_phone_does_what_it_does_without(phones: ServedPhones) -> None:
    """Our adapter on AndroidEnv on adb on the served phone, beside the simulated one."""
    simulated = SimulatedDevice("twin")
    simulated.reset(5)
    long = AndroidDeviceSettings(stillness=AT_ONCE)
    opening = partial(open_environment, settings_of(phones))
    with AndroidEnvDevice("served", opening, long, new_simulation) as device:
        device.reset(5)
        assert device.screen().digest == simulated.screen().digest
        for action in ERRAND[:-1]:
            assert device.perform(action).digest == simulated.perform(action).digest, action
        before = device.screen().digest
        with pytest.raises(ActionFailed, match="no such app at all"):
            device.perform(ERRAND[-1])
        assert device.screen().digest == before
        device.perform(OpenApp("Notes"))
        for label, role in (("New note", None), ("Text", "field")):
            x, y = Finger(phones.handset().phone).find(label, role).centre
            device.perform(Tap((x + 0.5) / 360, (y + 0.5) / 720))
        device.perform(TypeText("Grüße 'x' 世界"))
        assert phones.handset().text == "Grüße 'x' 世界"
        assert any(each.value == "Grüße 'x' 世界" for each in device.elements())
        with pytest.raises(CommandRefused, match="ended with code 1"):
            device.shell.run("false")
        assert phones.adb.process is not None
        assert phones.adb.process.poll() is None  # AndroidEnv had no reason to kill the server


def losing_an_answer(folder: Path, words: str) -> Path:
    """An adb that carries the first command with these words out and then fails, as when the cable
    is pulled; it notes each of them, and leaves the server alone.
    """
    adb, noted = folder / "adb", folder / "noted"
    adb.write_text(
        f"""#!/bin/sh
        case "$*" in
            *kill-server*|*start-server*) exit 0;;
            *"{words}"*) echo sent >> {noted}
                [ $(wc -l < {noted}) = 1 ] && {{ {find_tool("adb")} "$@"; exit 1; }};;
        esac
        exec {find_tool("adb")} "$@"
        """
    )
    adb.chmod(0o755)
    return adb


def test_what_androidenv_sends_again_is_not_carried_out_again(
    phones: ServedPhones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its own controller, as in an environment that is not on our simulator."""
    handset, noted = phones.handset(), tmp_path / "noted"
    monkeypatch.setattr(android_env_simulator, "OnceAdbController", AdbController)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    losing_an_answer(tmp_path, "input text")
    opening = partial(open_environment, settings_of(phones))
    with AndroidEnvDevice("served", opening, QUICK, new_simulation) as device:
        device.reset(5)
        device.perform(OpenApp("Notes"))
        for label, role in (("New note", None), ("Text", "field")):
            x, y = Finger(handset.phone).find(label, role).centre
            device.perform(Tap((x + 0.5) / 360, (y + 0.5) / 720))
        with pytest.raises(DeviceDisconnected, match="has not carried it out again"):
            device.shell.run("input", "text", "once")
        assert handset.text == "once"
        assert noted.read_text() == "sent\nsent\n"
        device.shell.run("input", "text", "more")  # another one, and not a retry
        assert handset.text == "oncemore"
        assert len(handset.files.names("/data/local/tmp")) == 1


def test_a_tap_whose_answer_is_lost_is_sent_once(
    phones: ServedPhones, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    losing_an_answer(tmp_path, "input tap")
    simulator = AdbSimulator(settings_of(phones))
    simulator.send_touch([(10, 10, True, 0)])
    with pytest.raises(SendActionError, match="input tap 10 10"):
        simulator.send_touch([(10, 10, False, 0)])
    assert (tmp_path / "noted").read_text() == "sent\n"


@pytest.mark.slow
def test_an_unplugged_phone_is_lost_through_androidenv_and_comes_back() -> None:
    with served_phones() as phones:
        opening = partial(open_environment, settings_of(phones))
        try:
            with AndroidEnvDevice("served", opening, QUICK, new_simulation) as device:
                device.reset(5)
                phones.phones.unplug(0)
                with pytest.raises(DeviceDisconnected, match="AdbControllerError"):
                    device.perform(Back())
                assert not device.ended
                phones.phones.plug_in(0)
                device.reset(5)
                assert device.perform(OpenApp("Notes")).pixels.any()
        finally:  # AndroidEnv has started a server of its own in the place of ours
            command = [str(find_tool("adb")), "-P", str(phones.adb.port), "kill-server"]
            subprocess.run(command, check=False, capture_output=True, timeout=30)
