"""uvicorn's HTTP/1.1 protocol with bounds on the connections and on the time of a request.

uvicorn itself bounds only silence: a peer that sends a byte now and then, of a head that never ends
or of a body that was refused, would keep its connection for ever. Here the head of the next request
must be complete before a deadline. Bytes that are not HTTP are answered by uvicorn itself, before
any application sees them; `refused` is called for each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

FIRST_REQUEST_SECONDS = 15.0  # for a request to arrive on a new connection
IDLE_SECONDS = 75  # from one request to the next, on the same connection
MAX_CONNECTIONS = 2048


class BoundedProtocol(H11Protocol):
    """One connection, made by uvicorn; it is aborted if its next request is late."""

    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, refused: Callable[[str, str], None], **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._refused = refused  # called with the reason and the peer's address

    def send_400_response(self, msg: str) -> None:
        self._refused(msg, self.client[0] if self.client else "")
        super().send_400_response(msg)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self._expect_request(FIRST_REQUEST_SECONDS, after=None)

    def on_response_complete(self) -> None:
        last = self.cycle  # the call below may begin the next request
        super().on_response_complete()
        self._expect_request(IDLE_SECONDS, after=last)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    def shutdown(self) -> None:
        """Abort an idle connection: a server that ends does not wait for its peer."""
        super().shutdown()
        if self._is_idle():
            self.transport.abort()

    def _expect_request(self, seconds: float, after: RequestResponseCycle | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._close_if_last, after)

    def _close_if_last(self, request: RequestResponseCycle | None) -> None:
        if self._last_request() is request and not self.transport.is_closing():
            self.transport.abort()

    def _is_idle(self) -> bool:
        last = self._last_request()
        return last is None or last.response_complete

    def _last_request(self) -> RequestResponseCycle | None:
        return self.cycle  # None before the first one, whatever its type says
