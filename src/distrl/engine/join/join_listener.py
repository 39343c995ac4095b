"""The learner's side of joined collectors: an HTTPS server in a thread of the learner's process.

It is one more transport beside local processes and Ray actors: it feeds the same registry and the
same receiver, and answers heartbeats with the same orders. A delivery is answered when it is
durable; while the learner is behind, the answer is delayed (by `HOLD_SECONDS` at most), which
throttles the collector.

It uses requests over HTTP/1.1 with keep-alive rather than a websocket: each can be sent again on
its own after a lost connection, both sides have a library for that, and a delivery of megabytes
delays no heartbeat, which has its own connection. uvicorn serves, Starlette routes and sends files.

Before a body is read, the token, its size, the session and the number of the request are checked
(`join_sessions`). A connection is closed if it sends no complete request in time, or a body that
nobody will read. Every refusal is counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from distrl.config.toml_writer import to_toml
from distrl.config.training_config import TrainingConfig
from distrl.engine.ingest.delivery import TrajectoryReceiver
from distrl.engine.ingest.messages import Received, Refused
from distrl.engine.join.bounded_protocol import IDLE_SECONDS, MAX_CONNECTIONS, BoundedProtocol
from distrl.engine.join.decision_relay import DecisionRelay, ScreenCheck, no_policy
from distrl.engine.join.decision_wire import Ask, PolicyAnswer, PolicyQuestion
from distrl.engine.join.identity import Identity, join_words
from distrl.engine.join.join_messages import (
    LIMITS,
    REASON,
    SEQUENCE,
    SESSION,
    Deliveries,
    DeliveryReply,
    JoinHeartbeat,
    JoinRequest,
    Orders,
    WeightOffer,
    Welcome,
    pack,
    unpack,
)
from distrl.engine.join.join_sessions import JoinSessions, Session
from distrl.engine.join.member_reports import of_member
from distrl.engine.local.policy_connection import find_policy_process
from distrl.engine.supervision.collector_registry import CollectorRegistry, HeartbeatReply
from distrl.engine.wiring import build_inputs
from distrl.errors import CorruptRecord, InvalidSetting, JoinRefused
from distrl.replay.trajectory_encoding import decode_trajectory
from distrl.runs.run_directory import RunDirectory
from distrl.watched_threads import WatchedThreads
from distrl.weights.weight_store import WeightStore

HOLD_SECONDS = 20.0  # by which the answer to a stored delivery is delayed, at most
BODY_SECONDS = 60.0  # for a body to arrive
BODIES_AT_ONCE = 8  # delivery bodies that are held in memory
ASKED_AT_ONCE = 32  # observations that are read at once
MAX_HEADER_BYTES = 1 << 14
START_SECONDS, END_SECONDS = 30.0, 5.0
UNREAD = ("oversized", "no_length", "compressed")  # reasons of refusals that leave the body unread
BEAT_SECONDS, BEATS_PER_SECOND = 0.25, 100.0  # shortest interval of one; highest rate of all

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class JoinService:
    """Handles the requests of joined collectors, one method for each path."""

    sessions: JoinSessions
    registry: CollectorRegistry
    receiver: TrajectoryReceiver
    weights: WeightStore
    settings: str  # TOML
    relay: DecisionRelay | None = None  # None: the run has no policy process
    _idle: threading.Condition = field(default_factory=threading.Condition)
    _working: int = 0  # threads in `_in_thread`
    _closed: bool = False
    _asked_bodies: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(ASKED_AT_ONCE)
    )
    _bodies: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(BODIES_AT_ONCE))

    def application(self) -> Starlette:
        posts = {
            "join": self.join,
            "heartbeat": self.heartbeat,
            "deliver": self.deliver,
            "decide": self.decide,
            "policy": self.policy,
            "leave": self.leave,
        }
        routes = [
            Route(f"/{kind}", partial(self._answer, handle), methods=["POST"])
            for kind, handle in posts.items()
        ]
        routes.append(Route("/weights/{digest}", partial(self._answer, self.file), methods=["GET"]))
        unknown = {HTTPException: self._unknown}
        return Starlette(routes=routes, exception_handlers=unknown)  # type: ignore[arg-type]

    async def _answer(
        self, handle: Callable[[Request], Awaitable[Response]], request: Request
    ) -> Response:
        peer = request.client.host if request.client else ""
        try:
            response = await handle(request)
        except JoinRefused as refusal:
            return self._refused(refusal, peer)
        except ClientDisconnect:
            return Response(status_code=400)  # the peer is gone
        self.sessions.succeeded(peer)
        return response

    def _refused(self, refusal: JoinRefused, peer: str) -> Response:
        headers = {REASON: refusal.reason}
        too_often = self.sessions.refuse(refusal, peer)
        if too_often or refusal.reason in UNREAD:
            headers["connection"] = "close"
        return PlainTextResponse(str(refusal), refusal.status, headers)

    def refuse_malformed(self, why: str, peer: str) -> None:
        """Count a request that is not HTTP; uvicorn has answered it."""
        self.sessions.refuse(JoinRefused(why, "malformed"), peer)

    async def _unknown(self, request: Request, error: HTTPException) -> Response:
        peer = request.client.host if request.client else ""
        return self._refused(JoinRefused(error.detail, "unknown_path", error.status_code), peer)

    # Paths --------------------------------------------------------------------------------------

    async def join(self, request: Request) -> Response:
        self.sessions.check_token(request.headers.get("authorization", ""))
        asked = unpack(await self._body(request, "join"), JoinRequest)
        self._check_open()
        registration = await self._in_thread(self.sessions.join, asked)
        if self.relay is not None:
            self.relay.forget(asked.member)
        info = registration.info
        welcome = Welcome(
            self.sessions.run, info.name, info.number, registration.state, self.settings
        )
        return Response(pack(welcome))

    async def heartbeat(self, request: Request) -> Response:
        session, body = await self._claim(request, "heartbeat")
        beat = unpack(body, JoinHeartbeat)
        full = of_member(session.info, beat.full)
        reply = await self._in_thread(self.registry.heartbeat, session.info, beat.in_flight, full)
        return Response(pack(await self._orders(reply)))

    async def leave(self, request: Request) -> Response:
        session, body = await self._claim(request, "leave")
        last = of_member(session.info, unpack(body, JoinHeartbeat).full)
        await self._in_thread(self.registry.deregister, session.info, last)
        self.sessions.leave(session)
        if self.relay is not None:
            self.relay.forget(session.member)
        reply = await self._in_thread(self.registry.orders, session.info.number)
        return Response(pack(await self._orders(reply)))

    async def decide(self, request: Request) -> Response:
        async with self._asked_bodies:
            session, body = await self._claim(request, "decide")
            relay, ask = self._relay(), unpack(body, Ask)
        return Response(pack(await relay.decide(session.member, ask)))

    async def policy(self, request: Request) -> Response:
        session, body = await self._claim(request, "policy")
        relay, question = self._relay(), unpack(body, PolicyQuestion)
        report = await self._in_thread(relay.report, session.member, question)
        return Response(pack(PolicyAnswer(report)))

    def _relay(self) -> DecisionRelay:
        self._check_open()
        if self.relay is None:
            raise no_policy()
        return self.relay

    async def deliver(self, request: Request) -> Response:
        async with self._bodies:
            session, body = await self._claim(request, "deliver")
            self._check_open()
            trajectories = unpack(body, Deliveries).trajectories
            stored, unusable = await self._in_thread(self._store, session, trajectories)
        waiting = [asyncio.wrap_future(future) for future in stored.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=HOLD_SECONDS)
        answers = [
            future.result() if future.done() else await self._in_thread(self._held, trajectory_id)
            for trajectory_id, future in stored.items()
        ]
        return Response(pack(DeliveryReply.of(answers, unusable)))

    async def file(self, request: Request) -> Response:
        """Send a weight file of the store, from the byte that the request names (`Range`)."""
        self.sessions.check_token(request.headers.get("authorization", ""))
        digest = request.path_params["digest"]
        for each in await self._in_thread(self.weights.files):
            if each.digest == digest:
                with contextlib.suppress(FileNotFoundError):  # it was just removed
                    return FileResponse(each.path, stat_result=each.path.stat())
        return PlainTextResponse("those weights are not kept any more", 404)

    # Requests -----------------------------------------------------------------------------------

    async def _claim(self, request: Request, kind: str) -> tuple[Session, bytes]:
        """Return the session of a request and its body; raise `JoinRefused` if it is refused."""
        headers = request.headers
        self.sessions.check_token(headers.get("authorization", ""))
        _check_size(request, kind)
        session = self.sessions.claim(headers.get(SESSION, ""), kind, headers.get(SEQUENCE, ""))
        return session, await self._body(request, kind)

    async def _body(self, request: Request, kind: str) -> bytes:
        _check_size(request, kind)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await request.body()  # h11 reads no more than Content-Length
        except TimeoutError:
            raise JoinRefused(f"no whole body in {BODY_SECONDS:g} s", "too_slow", 408) from None

    def _check_open(self) -> None:
        if self.registry.is_over():
            raise JoinRefused("the run has ended; keep what is left for its resume", "ended", 503)

    async def _orders(self, reply: HeartbeatReply) -> Orders:
        newest = await self._in_thread(self.weights.newest_file)
        offer = None
        if newest is not None:
            with contextlib.suppress(FileNotFoundError):  # a newer one has just replaced it
                size = newest.path.stat().st_size
                offer = WeightOffer(newest.version, newest.digest, size)
        return Orders(reply, offer, max(BEAT_SECONDS, len(self.sessions) / BEATS_PER_SECOND))

    def _store(
        self, session: Session, trajectories: tuple[bytes, ...]
    ) -> tuple[dict[str, Future[Received | Refused]], list[tuple[int, str]]]:
        """Store what is sound; a future is set when the learner has caught up. Thread-safe."""
        answers: dict[str, Future[Received | Refused]] = {}
        sound, unusable = [], []
        for place, encoded in enumerate(trajectories):
            try:
                trajectory = decode_trajectory(encoded, verify=True)  # untrusted bytes
                if not session.owns(trajectory.id):
                    raise CorruptRecord(f"{trajectory.id} is no episode of {session.info.name}")
            except CorruptRecord as error:
                self.sessions.refuse(JoinRefused(str(error), "unusable"), session.info.place)
                unusable.append((place, str(error)))
                continue
            answer = answers[trajectory.id] = Future[Received | Refused]()
            sound.append((encoded, partial(self._acknowledge, answer)))
        self.receiver.deliver_many(sound)
        return answers, unusable

    def _held(self, trajectory_id: str) -> Received | Refused:
        """Return the answer for one that is not acknowledged in time: the learner is behind."""
        if trajectory_id in self.receiver:
            return Received(trajectory_id, new=True)
        return Refused(trajectory_id, "it was not stored")

    async def _in_thread(self, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Run `work`, which may wait for a lock or the disk, in a thread; never after `close`."""

        def guarded() -> T:
            with self._idle:
                if self._closed:
                    raise JoinRefused("the learner has ended", "ended", 503)
                self._working += 1
            try:
                return work(*arguments, **named)
            finally:
                with self._idle:
                    self._working -= 1
                    self._idle.notify_all()

        return await run_in_threadpool(guarded)

    def close(self) -> None:
        """Wait for work in progress, and refuse more: the store may be closed afterwards."""
        with self._idle:
            self._closed = True
            self._idle.wait_for(lambda: not self._working)

    def _acknowledge(self, waiting: Future[Received | Refused], answer: Received | Refused) -> None:
        if isinstance(answer, Received):
            self.registry.delivered(answer.id.split("/")[0])
        if not waiting.done():
            waiting.set_result(answer)


def _check_size(request: Request, kind: str) -> None:
    """Refuse a request, before its body is read, if it has no length or is too long."""
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or "transfer-encoding" in request.headers:  # chunks have no length
        raise JoinRefused("a request must say how long it is (Content-Length)", "no_length", 411)
    if len(length) > 18 or int(length) > LIMITS[kind]:
        raise JoinRefused(
            f"{length[:20]} bytes, and a {kind} has {LIMITS[kind]} at most", "oversized", 413
        )
    if "content-encoding" in request.headers:
        raise JoinRefused("send bodies as they are, not compressed", "compressed", 415)


# The server ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def listening(service: JoinService, identity: Identity, address: str) -> Iterator[int]:
    """Serve on HOST:PORT until the context ends; yield the port (for 0, the one chosen)."""
    with open_socket(address) as opened:
        server = uvicorn.Server(
            uvicorn.Config(
                service.application(),
                http=partial(BoundedProtocol, refused=service.refuse_malformed),  # type: ignore[arg-type]
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level=logging.ERROR,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                h11_max_incomplete_event_size=MAX_HEADER_BYTES,
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=int(END_SECONDS),
                ssl_certfile=identity.certificate,
                ssl_keyfile=identity.key,
            )
        )
        thread = WatchedThreads("join", lambda: server.run(sockets=[opened]), lambda: None)
        thread.start()
        try:
            yield opened.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(2 * END_SECONDS)
            service.close()
        thread.raise_failure()


def open_listener(
    config: TrainingConfig,
    run: RunDirectory,
    registry: CollectorRegistry,
    receiver: TrajectoryReceiver,
    weights: WeightStore,
    opened: ExitStack,
) -> str:
    """Listen as the settings say until `opened` is closed; return the command to join with."""
    own = run.path / "join"
    settings = config.engine.join
    identity = Identity.in_folder(Path(settings.identity) if settings.identity else own)
    own.mkdir(mode=0o700, exist_ok=True)
    sessions = JoinSessions(registry, identity.token(), own / "members.json")
    relay = None
    if config.one_policy_per_node:
        check = ScreenCheck(config.agent.model, build_inputs(config))
        relay = opened.enter_context(DecisionRelay(partial(find_policy_process, run.path), check))
    service = JoinService(sessions, registry, receiver, weights, to_toml(config), relay)
    port = opened.enter_context(listening(service, identity, settings.listen))
    return join_words(settings.listen, port, identity)


def open_socket(address: str) -> socket.socket:
    """Open a listening socket on HOST:PORT; raise `InvalidSetting` if that fails."""
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname or "", parts.port or 0
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        opened = socket.create_server((host, port), family=family, backlog=MAX_CONNECTIONS)
        # Connections inherit it; asyncio does not set it, and replies would wait 40 ms for an ACK.
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened
    except (OSError, ValueError) as error:
        raise InvalidSetting(
            f"engine.join.listen={address!r}: {error}; give an address of this machine and a port "
            "that is free, such as 0.0.0.0:7700"
        ) from error
