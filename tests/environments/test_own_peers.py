"""Phones that are served on this machine are this user's, unless they are opened on purpose."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import MutableMapping
from typing import Any

import pytest

from distrl.environments.openenv_server import main
from distrl.environments.own_peers import Application, OwnPeersOnly, Receive, Scope, Send

Message = MutableMapping[str, Any]
STRANGER = ("127.0.0.1", 1)


async def phones(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"a phone"})


def answers(application: Application, kind: str, client: object = None) -> list[Message]:
    """What is sent to a client whose connection is this process's own, or to another one."""
    said: list[Message] = []

    async def receive() -> Message:
        return {"type": f"{kind}.connect"}

    async def send(message: Message) -> None:
        said.append(message)

    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as mine,
    ):
        own = {"client": client or mine.getsockname(), "server": mine.getpeername()}
        asyncio.run(OwnPeersOnly(application)({"type": kind, **own}, receive, send))
    return said


def test_this_users_processes_are_served() -> None:
    assert [each.get("status") for each in answers(phones, "http")] == [200, None]


def test_another_user_is_refused_by_either_protocol() -> None:
    first, second = answers(phones, "http", STRANGER)
    assert (first["status"], b"another user's" in second["body"]) == (403, True)
    assert answers(phones, "websocket", STRANGER) == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.7", "lab.example"])
def test_other_machines_are_served_only_on_purpose(
    host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--host", host])
    assert "--any-user" in capsys.readouterr().err
