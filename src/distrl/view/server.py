"""The server behind `distrl view`: the page, its data, and the live wall; requests change nothing.

It listens on 127.0.0.1, which no other machine can reach. Other users of this machine can, so only
connections of the user who started it, or of root, are answered. So can a foreign web page open in
the same browser: requests must name this host (against DNS rebinding) and come from the page
itself, only GET and HEAD are answered, no other origin may read or frame it, and only the page's
own scripts run (CSP), whatever instructions and answers contain. Beyond loopback, or if the system
does not list the owners of connections, a token is required, which the first visit exchanges for a
cookie. The wall is sent as server-sent events: the phones that changed, a few times a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from distrl.episodes.live_feed import Audience
from distrl.errors import DistrlError, InvalidSetting
from distrl.json_lines import plain_json
from distrl.loopback_peer import is_own_peer
from distrl.view.live_wall import LiveWall
from distrl.view.resources import Resources, RunResources
from distrl.view.run_catalogue import run_state

STATIC = Path(__file__).parent / "static"
LOOPBACK = {"127.0.0.1", "localhost", "[::1]", "::1"}
WALL_SECONDS = 0.15  # between two polls of the phones
QUIET_SECONDS, SLOW_WALL_SECONDS = 2.0, 0.5  # after so long without a change, poll so slowly
NICE = 10  # a lower CPU priority than training has
MAX_NAME = 200  # characters of the name of a followed phone
TICK_SECONDS = 2.0  # between two `tick` events, and renewals of the viewers' lease
MAX_WATCHERS = 16
COOKIE = "distrl-view"
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where the page is. `token`: empty on loopback, where a connection's owner is checked."""

    host: str = "127.0.0.1"
    port: int = 0  # 0: any free one
    token: str = ""

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and not self.token:
            raise InvalidSetting(
                f"--listen {self.host}: other machines could look at every screen; give --token, "
                "or leave --listen out and forward the port over ssh"
            )

    @property
    def url(self) -> str:
        query = f"?token={self.token}" if self.token else ""
        return f"http://{self.host}:{self.port}/{query}"


class Gate:
    """ASGI middleware that refuses requests which the page never sends, and adds `HEADERS`."""

    def __init__(
        self, app: ASGIApp, address: Callable[[], Address], is_ours: Callable[[Scope], bool]
    ) -> None:
        self._app = app
        self._address = address
        self._is_ours = is_ours

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        answer = self._refusal(request)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *extra]
            await send(message)

        await (answer or self._app)(scope, receive, send_with_headers)

    def _refusal(self, request: Request) -> Response | None:
        address = self._address()
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("this page only reads", 405, headers={"allow": "GET, HEAD"})
        host = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
        if address.host in LOOPBACK and host not in LOOPBACK:
            return PlainTextResponse("open it by its own address, such as 127.0.0.1", 421)
        if request.headers.get("sec-fetch-site") == "cross-site" and request.url.path != "/":
            return PlainTextResponse("this is for the page itself", 403)
        if address.token:
            return self._without_token(request, address.token)
        if not self._is_ours(request.scope):
            return PlainTextResponse("another user started this page; ask for its --token", 403)
        return None

    def _without_token(self, request: Request, token: str) -> Response | None:
        given = request.query_params.get("token", "")
        if given and secrets.compare_digest(given.encode(), token.encode()):
            answer = RedirectResponse(request.url.path, 303)
            answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return answer
        known = request.cookies.get(COOKIE, "")
        if secrets.compare_digest(known.encode(), token.encode()):
            return None
        return PlainTextResponse("this needs ?token=…, as printed where it was started", 401)


def is_ours(scope: Scope) -> bool:
    """Return whether a request's connection belongs to the user of this process, or to root."""
    return is_own_peer(scope["client"] or ("", 0), scope["server"] or ("", 0))


def build_app(
    resources: Resources,
    address: Callable[[], Address],
    is_ours: Callable[[Scope], bool] = is_ours,
) -> ASGIApp:
    """Build the app: the page, its data and its wall, behind a `Gate`."""
    watchers = asyncio.Semaphore(MAX_WATCHERS)

    async def page(_: Request) -> Response:
        return _static("index.html")

    async def static(request: Request) -> Response:
        return _static(request.path_params["name"])

    async def data(request: Request) -> Response:
        try:
            found = await run_in_threadpool(resources.get, request.path_params["path"])
        except LookupError as error:
            return PlainTextResponse(str(error), 404)
        except (DistrlError, sqlite3.Error, OSError) as error:
            return PlainTextResponse(f"{type(error).__name__}: {error}", 503)
        keep = "private, max-age=86400" if found.lasting else "no-store"
        return Response(found.content, media_type=found.media_type, headers={"cache-control": keep})

    async def wall(request: Request) -> Response:
        try:
            run = resources.run(request.path_params["run"]).run.path
        except LookupError:
            return PlainTextResponse("no such run", 404)
        if watchers.locked():
            return PlainTextResponse(f"{MAX_WATCHERS} others watch already; close one", 503)

        phones = request.query_params.get("phones") != "0"
        followed = request.query_params.get("follow", "")[:MAX_NAME]

        async def events() -> AsyncIterator[bytes]:
            async with watchers:
                name = request.path_params["run"]
                async for event in wall_events(
                    resources, name, run, phones=phones, followed=followed
                ):
                    yield event

        return StreamingResponse(
            events(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    routes = [
        Route("/", page),
        Route("/static/{name}", static),
        Route("/data/{path:path}", data),
        Route("/live/{run}", wall),
    ]
    return Gate(Starlette(routes=routes), address, is_ours)


async def wall_events(
    resources: Resources, name: str, run: Path, *, phones: bool = True, followed: str = ""
) -> AsyncIterator[bytes]:
    """Yield server-sent events: `phones` with what changed, and `tick` every `TICK_SECONDS`.

    Without `phones` it only ticks and does not renew the lease on which collectors publish.
    `followed`: the phone whose screen is to be published larger.
    """
    live, audience = LiveWall(run), Audience(run)
    ticked = -TICK_SECONDS
    due = moved = time.monotonic()
    while True:
        now = time.monotonic()
        if now - ticked >= TICK_SECONDS:
            ticked = now
            tick = await run_in_threadpool(_tick, resources.run(name))
            if phones and tick["state"] == "running":
                audience.renew(followed)
            yield _event("tick", tick)
        changed = list(live.changed()) if phones else []
        if changed:
            moved = now
            yield _event("phones", changed)  # pictures become base64
        quiet = now - moved >= QUIET_SECONDS
        due = max(due + (SLOW_WALL_SECONDS if quiet else WALL_SECONDS), now)
        await asyncio.sleep(max(0.0, due - time.monotonic()))


def _tick(run: RunResources) -> dict[str, Any]:
    return {"state": run_state(run.run, time.time()), "episodes": len(run.index)}


def _event(kind: str, content: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), plain_json(content))


def _static(name: str) -> Response:
    path = STATIC / name
    if path.parent != STATIC or not path.is_file():
        return PlainTextResponse("there is no such file", 404)
    headers: Mapping[str, str] = {"cache-control": "no-cache"}
    return FileResponse(path, media_type=TYPES[path.suffix], headers=headers)


def serve(
    resources: Resources, address: Address, ready: Callable[[Address], None] = lambda _: None
) -> None:
    """Serve until Ctrl-C, with a low priority; call `ready` with the address once it listens."""
    os.nice(NICE)
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address.host.strip("[]"), address.port))
    except OSError as error:
        listener.close()
        raise InvalidSetting(
            f"cannot listen on {address.host}:{address.port}: {error}; give another --port, or 0 "
            "for any that is free"
        ) from error
    known = Address(address.host, listener.getsockname()[1], address.token)
    config = uvicorn.Config(
        build_app(resources, lambda: known),
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    listener.listen(128)  # before `ready`: whoever gets the address may connect at once
    ready(known)
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(listener):
        uvicorn.Server(config).run(sockets=[listener])
    resources.close()
