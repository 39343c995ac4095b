"""Restrict a server on this machine to processes of this user and of root.

OpenEnv has no passwords, and a port of the loopback address is open to every user of the machine:
whoever reaches it operates the phones. The kernel knows whose process is at the other end of a
connection (`loopback_peer`), so no client needs a token.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from distrl.loopback_peer import is_own_peer

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
REFUSED = b"these phones are another user's; see --any-user of the server\n"
POLICY_VIOLATION = 1008  # a close code of websockets (RFC 6455)


class OwnPeersOnly:
    """ASGI middleware: the wrapped application receives only requests of this user and root."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or _is_own(scope):
            await self._application(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()  # the event `websocket.connect`
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": REFUSED})


def _is_own(scope: Scope) -> bool:
    return is_own_peer(scope.get("client") or ("", 0), scope.get("server") or ("", 0))
