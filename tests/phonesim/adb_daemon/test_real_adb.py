"""The real adb client and server, and adbutils on top of them, against served phones."""

from __future__ import annotations

import gc
import io
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.devices.adb.adb_servers import OwnAdbServer, own_adb_server

from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.phone_server import PhoneServer
from phonesim.finger import Finger

adbutils = pytest.importorskip("adbutils", reason="the adb binary comes with distrl[android]")


class Adb:
    """The binary, with a server of its own."""

    def __init__(self, own: OwnAdbServer) -> None:
        self.own = own

    def __call__(self, *words: str, serial: str = "") -> subprocess.CompletedProcess[bytes]:
        place = ("-s", serial) if serial else ()
        command = [adbutils.adb_path(), "-P", str(self.own.port), *place, *words]
        return subprocess.run(
            command, env=self.own.environment, capture_output=True, timeout=100, check=False
        )

    def says(self, *words: str, serial: str = "") -> str:
        answer = self(*words, serial=serial)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout.decode()

    def connect(self, address: str) -> None:
        assert "connected to" in self.says("connect", address)
        wait_for(lambda: self.state(address) == "device")

    def state(self, address: str) -> str:
        rows = [row.split("\t") for row in self.says("devices").splitlines()[1:]]
        return next((row[1] for row in rows if row[0] == address), "none")


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def adb() -> Iterator[Adb]:
    with own_adb_server() as own:
        yield Adb(own)


@pytest.fixture(scope="module")
def server(adb: Adb) -> Iterator[PhoneServer]:
    with PhoneServer([Handset("real-0", 5), Handset("real-1", 6)]) as running:
        for address in running.addresses:
            adb.connect(address)
        yield running


@pytest.fixture
def serial(server: PhoneServer) -> str:
    return server.addresses[0]


@pytest.fixture
def handset(server: PhoneServer) -> Handset:
    server.phones[0].handset.reset(5)
    return server.phones[0].handset


def test_it_is_listed_with_its_model(adb: Adb, serial: str) -> None:
    row = next(r for r in adb.says("devices", "-l").splitlines() if r.startswith(serial))
    assert "device product:distrl model:DistRL_Phone" in row
    assert adb.says("get-state", serial=serial).strip() == "device"


def test_shells_and_exit_codes(adb: Adb, serial: str) -> None:
    assert adb.says("shell", "echo", "hello", serial=serial) == "hello\n"
    assert adb("shell", "exit 9", serial=serial).returncode == 9
    missing = adb("shell", "su -c id", serial=serial)
    assert missing.returncode == 127
    assert missing.stderr == b"/system/bin/sh: su: not found\n"
    assert adb.says("shell", "-x", "echo v1", serial=serial) == "v1\n"
    session = subprocess.run(
        [adbutils.adb_path(), "-P", str(adb.own.port), "-s", serial, "shell"],
        input=b"echo one\nX=two; echo $X\nexit 3\n",
        env=adb.own.environment,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert (session.stdout, session.returncode) == (b"one\ntwo\n", 3)


def test_its_picture_is_exact(adb: Adb, serial: str, handset: Handset) -> None:
    png = adb("exec-out", "screencap", "-p", serial=serial).stdout
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png))), handset.phone.frame())
    assert adb("exec-out", "screencap", serial=serial).stdout == handset.raw()


def test_it_is_operated(adb: Adb, serial: str, handset: Handset) -> None:
    adb.says("shell", "am", "start", "-n", "com.distrl.notes/.HomeActivity", serial=serial)
    x, y = Finger(handset.phone).find("New note").centre
    adb.says("shell", "input", "tap", str(x), str(y), serial=serial)
    x, y = Finger(handset.phone).find("Text", "field").centre
    adb.says("shell", "input", "tap", str(x), str(y), serial=serial)
    adb.says("shell", "input", "text", "plain%stext", serial=serial)
    adb.says("shell", "ime set com.android.adbkeyboard/.AdbIME", serial=serial)
    adb.says("shell", "am broadcast -a ADB_INPUT_TEXT --es msg ' schön 😀'", serial=serial)
    assert handset.text == "plain text schön 😀"
    assert "mInputShown=true" in adb.says("shell", "dumpsys", "input_method", serial=serial)
    adb.says("shell", "input", "keyevent", "KEYCODE_HOME", serial=serial)
    focus = adb.says("shell", "dumpsys window | grep mCurrentFocus", serial=serial)
    assert "com.distrl.launcher" in focus


def test_files_go_there_and_back(adb: Adb, serial: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    data = np.random.default_rng(1).bytes(3_000_000)
    (folder / "large").write_bytes(data)
    (folder / "inner" / "ü x").write_bytes(b"")
    adb.says("push", str(folder), "/sdcard/Download/", serial=serial)
    adb.says("push", str(folder / "large"), "/data/local/tmp/other", serial=serial)
    adb.says("pull", "/sdcard/Download/folder", str(tmp_path / "back"), serial=serial)
    assert (tmp_path / "back" / "large").read_bytes() == data
    assert (tmp_path / "back" / "inner" / "ü x").read_bytes() == b""
    adb.says("pull", "/data/local/tmp/other", str(tmp_path / "other"), serial=serial)
    assert (tmp_path / "other").read_bytes() == data
    assert adb("pull", "/etc/passwd", str(tmp_path / "stolen"), serial=serial).returncode != 0
    assert adb("push", str(folder / "large"), "/system/bin/sh", serial=serial).returncode != 0
    assert not (tmp_path / "stolen").exists()


def test_what_it_has_not_is_refused(adb: Adb, serial: str, tmp_path: Path) -> None:
    (tmp_path / "app.apk").write_bytes(b"PK")
    assert adb("install", str(tmp_path / "app.apk"), serial=serial).returncode != 0
    assert adb("reverse", "tcp:1", "tcp:2", serial=serial).returncode != 0
    assert adb("reboot", serial=serial).returncode != 0
    assert "cannot run as root" in adb("root", serial=serial).stdout.decode()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_adbutils(adb: Adb, serial: str, handset: Handset) -> None:
    client = adbutils.AdbClient("127.0.0.1", adb.own.port)
    device = client.device(serial)
    assert device.shell("echo a") == "a"
    assert device.shell2("echo a; false").returncode == 1
    assert device.shell2("exit 8", v2=True).returncode == 8
    assert device.window_size() == (360, 720)
    assert device.rotation() == 0
    assert device.is_screen_on()
    assert np.array_equal(np.asarray(device.screenshot()), handset.phone.frame())
    pixels = np.asarray(device.framebuffer())
    assert np.array_equal(pixels[..., :3], handset.phone.frame())
    device.app_start("com.distrl.notes")
    assert device.app_current().package == "com.distrl.notes"
    assert "com.distrl.todo" in device.list_packages()
    assert device.app_info("com.distrl.notes").version_name.endswith(".0")
    assert device.dump_hierarchy().startswith("<?xml")
    assert device.battery().level > 0
    device.sync.push(io.BytesIO(b"data"), "/sdcard/f")
    assert device.sync.read_bytes("/sdcard/f") == b"data"
    device.app_stop("com.distrl.notes")
    assert device.app_current().package == "com.distrl.launcher"
    del device, client
    gc.collect()  # adbutils leaves the sockets of some calls open; they are not for later tests


def test_an_unplugged_phone_comes_back(adb: Adb, server: PhoneServer) -> None:
    serial = server.addresses[1]
    server.unplug(1)
    wait_for(lambda: adb.state(serial) != "device")
    assert adb("shell", "echo", serial=serial).returncode != 0
    server.plug_in(1)
    wait_for(lambda: "connected" in adb.says("connect", serial) and adb.state(serial) == "device")
    assert adb.says("shell", "getprop", "ro.serialno", serial=serial) == "real-1\n"


def test_a_phone_that_asks_first(adb: Adb) -> None:
    with PhoneServer([Handset("asks", 1)], ask=True) as server:
        (phone,), (address,) = server.phones, server.addresses
        adb("connect", address)
        wait_for(lambda: adb.state(address) == "unauthorized")
        assert b"unauthorized" in adb("shell", "echo", serial=address).stderr
        wait_for(lambda: phone.authorization.allow() > 0)
        wait_for(lambda: adb.state(address) == "device")
        adb.says("disconnect", address)
        adb.connect(address)  # its key is known now: the signature is enough
        assert adb.says("shell", "echo", "in", serial=address) == "in\n"
        phone.authorization.forget()
        adb.says("disconnect", address)
        adb("connect", address)
        wait_for(lambda: adb.state(address) == "unauthorized")
        adb.says("disconnect", address)


def test_sixteen_phones_at_once(adb: Adb) -> None:
    handsets = [Handset(f"many-{number}", number) for number in range(16)]
    with PhoneServer(handsets) as server:

        def use(number: int) -> bytes:
            address = server.addresses[number]
            adb.connect(address)
            adb.says("shell", "am start -n com.distrl.notes/.HomeActivity", serial=address)
            return adb("exec-out", "screencap", "-p", serial=address).stdout

        with ThreadPoolExecutor(8) as pool:
            pictures = list(pool.map(use, range(16)))
        assert pictures == [handset.png() for handset in handsets]
        assert {handset.phone.state.front for handset in handsets} == {"Notes"}
        for address in server.addresses:
            adb.says("disconnect", address)
