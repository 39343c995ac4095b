"""Text arrives whole or not at all, and what cannot be typed is said."""

from __future__ import annotations

import base64
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.devices.adb.scripted_adb_server import Script, scripted_server, shell_answer

from distrl.devices.adb.adb_shell import AdbShell
from distrl.devices.adb.unicode_typing import (
    ADB_KEYBOARD,
    choose_typing,
    plain_commands,
    type_by_clipboard,
    type_by_keyboard,
    type_plainly,
)
from distrl.errors import ActionFailed, TypingFailed

TO_PHONE: Script = {"host:transport:": b"OKAY"}


def typed_by(commands: list[str]) -> str:
    """What Android's `input` makes of these commands."""
    typed = ""
    for command in commands:
        program, kind, argument = shlex.split(command)
        assert program == "input"
        typed += "\n" if (kind, argument) == ("keyevent", "66") else argument.replace("%s", " ")
    return typed


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.just("\n"), max_size=500))
def test_plain_text_survives_the_shell_and_input(text: str) -> None:
    assert typed_by(list(plain_commands(text))) == text


def test_a_percent_s_is_not_a_space() -> None:
    assert typed_by(list(plain_commands("100%sure 100%%s"))) == "100%sure 100%%s"


def test_foreign_text_is_refused_and_nothing_is_typed() -> None:
    with (
        scripted_server({}) as server,  # which would refuse any command
        pytest.raises(
            ActionFailed, match=r"5 characters .* U\+00FC.*install ADBKeyboard"
        ) as raised,
    ):
        type_plainly(AdbShell(server.link("phone"), keep_open=False), "für 1")
    assert "für" not in str(raised.value)  # it may be private


def test_the_keyboard_app_is_preferred_and_gets_any_text() -> None:
    text = "Grüße, 世界 🎉 \"'$(x)`"
    coded = base64.b64encode(text.encode()).decode()
    script: Script = {
        "shell,v2,raw:ime list": shell_answer(f"com.x/.Y\n{ADB_KEYBOARD}\n".encode()),
        f"shell,v2,raw:ime enable {ADB_KEYBOARD}": shell_answer(b""),
        f"shell,v2,raw:ime set {ADB_KEYBOARD}": shell_answer(b""),
        f"shell,v2,raw:am broadcast -a ADB_INPUT_B64 --es msg {coded}": shell_answer(
            b"Broadcasting: Intent\nBroadcast completed: result=0\n"
        ),
    }
    with scripted_server(TO_PHONE | script) as server:
        shell = AdbShell(server.link("phone"), keep_open=False)
        typing = choose_typing(shell)
        assert typing is type_by_keyboard
        typing(shell, text)  # any other command would be refused


def test_a_keyboard_app_that_does_not_answer_is_a_failure() -> None:
    script: Script = {"shell,v2,raw:am": shell_answer(b"Error: no such receiver")}
    with (
        scripted_server(TO_PHONE | script) as server,
        pytest.raises(TypingFailed, match="receiver"),
    ):
        type_by_keyboard(AdbShell(server.link("phone"), keep_open=False), "ü")


def test_the_clipboard_comes_next() -> None:
    script: Script = {
        "shell,v2,raw:ime list": shell_answer(b"com.x/.Y\n"),
        "shell,v2,raw:pm list packages": shell_answer(b"package:ca.zgrs.clipper\n"),
        "shell,v2,raw:am broadcast -a clipper.set -e text 'a ü'": shell_answer(b"result=-1"),
        "shell,v2,raw:input keyevent 279": shell_answer(b""),
    }
    with scripted_server(TO_PHONE | script) as server:
        shell = AdbShell(server.link("phone"), keep_open=False)
        typing = choose_typing(shell)
        assert typing is type_by_clipboard
        typing(shell, "a ü")


def test_a_clipboard_that_takes_nothing_is_a_failure() -> None:
    script: Script = {"shell,v2,raw:am": shell_answer(b"Broadcast completed: result=0")}
    with (
        scripted_server(TO_PHONE | script) as server,
        pytest.raises(TypingFailed, match="not take"),
    ):
        type_by_clipboard(AdbShell(server.link("phone"), keep_open=False), "ü")


def test_a_bare_phone_types_plainly() -> None:
    script: Script = {"shell,v2,raw:ime": shell_answer(b""), "shell,v2,raw:pm": shell_answer(b"")}
    with scripted_server(TO_PHONE | script) as server:
        typing = choose_typing(AdbShell(server.link("phone"), keep_open=False))
    assert typing is type_plainly
