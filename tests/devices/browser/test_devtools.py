"""Commands and answers over pipes, with a peer of a few lines at their other end."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import msgspec
import pytest

from distrl.devices.browser.devtools import DevTools, Json
from distrl.errors import BrowserStopped, CommandRefused, DeviceTimeout


def connected(peer: Callable[[Json], list[Json]]) -> tuple[DevTools, threading.Thread]:
    """DevTools whose other end answers each command with what `peer` returns, in small pieces."""
    reading, commands = os.pipe()
    answers, writing = os.pipe()

    def serve() -> None:
        with os.fdopen(reading, "rb") as inbox, os.fdopen(writing, "wb", 0) as outbox:
            waiting = b""
            while data := os.read(inbox.fileno(), 7):
                waiting += data
                while b"\0" in waiting:
                    command, _, waiting = waiting.partition(b"\0")
                    for each in peer(msgspec.json.decode(command)):
                        sent = msgspec.json.encode(each) + b"\0"
                        for place in range(0, len(sent), 5):
                            outbox.write(sent[place : place + 5])
                if waiting == b"" and stopped:
                    return

    thread = threading.Thread(target=serve)
    thread.start()
    return DevTools(commands, answers), thread


stopped: list[bool] = []


@pytest.fixture(autouse=True)
def goes_on() -> None:
    stopped.clear()


def test_answers_find_their_commands_and_events_their_session() -> None:
    def peer(command: Json) -> list[Json]:
        session = command.get("sessionId", "")
        event = {"method": "Page.moved", "params": {"by": 3}, "sessionId": "other"}
        answer = {"id": command["id"], "result": {"said": command["method"]}, "sessionId": session}
        return [event, answer]

    tools, thread = connected(peer)
    session, seen = tools.session("page", "other"), []
    session.handlers["Page.moved"] = lambda event: seen.append(event["by"])
    assert tools.browser.call("Browser.getVersion") == {"said": "Browser.getVersion"}
    assert session.call("Page.enable") == {"said": "Page.enable"}
    assert seen == [3, 3]
    tools.close()
    thread.join(10)


def test_a_refusal_and_a_silence_are_typed() -> None:
    def peer(command: Json) -> list[Json]:
        refusal = {"id": command["id"], "error": {"code": -1, "message": "no such method"}}
        return [] if command["method"] == "Slow" else [refusal]

    tools, thread = connected(peer)
    with pytest.raises(CommandRefused, match="no such method"):
        tools.browser.call("Nothing.known")
    with pytest.raises(DeviceTimeout, match=r"within 0\.05 s"):
        tools.browser.call("Slow", 0.05)
    tools.close()
    thread.join(10)


def test_everybody_hears_that_the_browser_has_ended() -> None:
    def peer(command: Json) -> list[Json]:
        stopped.append(True)
        return []

    tools, thread = connected(peer)
    session = tools.session("page", "one")
    for each in (tools.browser, session, tools.session("late", "two")):
        with pytest.raises(BrowserStopped):
            each.call("Page.enable")
        with pytest.raises(BrowserStopped):
            each.call("Page.enable")
    assert tools.closed
    thread.join(10)
