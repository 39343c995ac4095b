"""The joined collector's side of the connection: requests to the learner over TLS (httpx).

The learner's certificate is pinned: before anything is sent, its SHA-256 fingerprint is compared
with the one that the user gave; from then on OpenSSL trusts that certificate alone. The token is
never sent to anybody else.

Errors: `LearnerGone` if nobody answers in time or the status is in `LATER` (try again),
`JoinRefused` if the learner refuses (its `status` tells whether joining again helps), and
`WrongFingerprint`. Each kind of request except `decide` is sent by one thread at a time.
"""

from __future__ import annotations

import itertools
import os
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TypeVar
from urllib.parse import urlsplit

import httpx

from distrl.engine.join.decision_wire import Ask, PolicyAnswer, PolicyQuestion
from distrl.engine.join.identity import fingerprint_of
from distrl.engine.join.join_messages import (
    MAX_REPLY_BYTES,
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
from distrl.engine.serving.decision_messages import PackedDecision
from distrl.engine.serving.policy_server import ServerReport
from distrl.errors import InvalidSetting, JoinRefused, LearnerGone, WrongFingerprint, storage_error

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 10.0  # for all but deliveries
DECIDE_SECONDS = 30.0  # the learner waits for its policy for 20 of them
POLICY_SECONDS = 3.0  # a report that is missed is requested again soon
DELIVERY_SECONDS = 60.0  # the learner holds its answer for 20 of them while it is behind
LATER = (408, 429, 500, 502, 503, 504)  # statuses after which the same request may be sent again
JOIN_AGAIN = (409, 410)  # statuses after which a new session helps
# Decisions use dozens of connections, with pauses; keeping them saves the handshakes. Idle ones are
# closed here before the learner closes them (`bounded_protocol.IDLE_SECONDS`).
CONNECTIONS = httpx.Limits(max_connections=64, max_keepalive_connections=48, keepalive_expiry=60.0)
PIECE = 1 << 18  # bytes of weights that are written at once
FINGERPRINT = re.compile(r"[0-9a-f]{64}")
T = TypeVar("T")


class LearnerClient:
    """Requests to one learner. A context manager."""

    def __init__(self, url: str, token: str, fingerprint: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            raise InvalidSetting(f"--join {url}; give the learner's https://HOST:PORT")
        self.url = url.rstrip("/")
        self._address = parts.hostname, parts.port or 443
        self._fingerprint = fingerprint.replace(":", "").lower()
        if not FINGERPRINT.fullmatch(self._fingerprint):
            raise InvalidSetting(
                f"--fingerprint {fingerprint}; give the 64 hexadecimal digits that the learner "
                "printed with its join command"
            )
        self._token = token
        self._session = ""
        self._numbers = itertools.count()
        self._http: httpx.Client | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._http is not None:
            self._http.close()

    # Requests -----------------------------------------------------------------------------------

    def join(self, request: JoinRequest) -> Welcome:
        """Begin a session over new connections, after checking the certificate again."""
        context = self._pinned()
        if self._http is not None:
            self._http.close()
        self._http = httpx.Client(
            base_url=self.url,
            verify=context,
            trust_env=False,
            headers={"authorization": f"Bearer {self._token}"},
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            limits=CONNECTIONS,
        )
        self._session, self._numbers = request.session, itertools.count()
        return self._post("join", request, Welcome)

    def heartbeat(self, heartbeat: JoinHeartbeat) -> Orders:
        return self._post("heartbeat", heartbeat, Orders)

    def leave(self, last: JoinHeartbeat) -> None:
        self._post("leave", last, Orders)

    def decide(self, ask: Ask) -> PackedDecision:
        """Return a decision of the learner's policy. Thread-safe."""
        return self._post("decide", ask, PackedDecision, DECIDE_SECONDS)

    def policy(self, question: PolicyQuestion) -> ServerReport | None:
        """Return the policy server's report, None while it loads; `JoinRefused`: there is none."""
        return self._post("policy", question, PolicyAnswer, POLICY_SECONDS).report

    def deliver(self, deliveries: Deliveries) -> DeliveryReply:
        return self._post("deliver", deliveries, DeliveryReply, DELIVERY_SECONDS)

    def fetch_weights(self, offer: WeightOffer, path: Path) -> None:
        """Write the offered weights to a file, continuing an earlier fetch that was interrupted."""
        have = path.stat().st_size if path.exists() else 0
        if have > offer.nbytes:
            path.unlink()
            have = 0
        if have == offer.nbytes:
            return
        with (
            self._sent("GET", f"/weights/{offer.digest}", {"range": f"bytes={have}-"}) as answer,
            _appending(path, have if answer.status_code == 206 else 0) as file,
        ):
            written = file.tell()
            for piece in answer.iter_raw(PIECE):
                written += len(piece)
                if written > offer.nbytes:
                    raise JoinRefused(f"more than {offer.nbytes} bytes of weights", "oversized")
                file.write(piece)
        if written < offer.nbytes:
            raise LearnerGone(f"the weights ended after {written} of {offer.nbytes} bytes")

    # The connection -----------------------------------------------------------------------------

    def _pinned(self) -> ssl.SSLContext:
        """Return an SSL context that trusts the learner's certificate alone."""
        try:
            certificate = ssl.get_server_certificate(self._address, timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise LearnerGone(f"{self.url} does not answer: {error}") from error
        found = fingerprint_of(certificate)
        if found != self._fingerprint:
            raise WrongFingerprint(
                f"{self.url} has a certificate with the fingerprint {found}, and "
                f"{self._fingerprint} was given; nothing was sent. If the learner has made a new "
                "one, give the fingerprint that it printed; else somebody is in between"
            )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False  # the certificate itself is pinned
        context.load_verify_locations(cadata=certificate)
        return context

    def _post(
        self, kind: str, message: object, reply: type[T], seconds: float = ANSWER_SECONDS
    ) -> T:
        with self._sent("POST", f"/{kind}", {}, pack(message), seconds) as answer:
            body = b"".join(_bounded(answer))
        return unpack(body, reply)

    @contextmanager
    def _sent(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes = b"",
        seconds: float = ANSWER_SECONDS,
    ) -> Iterator[httpx.Response]:
        assert self._http is not None, "join first"
        headers |= {SESSION: self._session, SEQUENCE: str(next(self._numbers))}
        timeout = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        try:
            with self._http.stream(
                method, path, content=body, headers=headers, timeout=timeout
            ) as answer:
                _raise_refusal(answer)
                yield answer
        except httpx.HTTPError as error:
            raise LearnerGone(f"{self.url}{path}: {str(error) or type(error).__name__}") from error


def _raise_refusal(answer: httpx.Response) -> None:
    if answer.is_success:
        return
    words = b"".join(_bounded(answer)).decode("utf-8", "replace")
    if answer.status_code in LATER:
        raise LearnerGone(f"the learner says: {answer.status_code} {words}")
    raise JoinRefused(
        f"the learner refuses: {words}", answer.headers.get(REASON, ""), answer.status_code
    )


def _bounded(answer: httpx.Response) -> Iterator[bytes]:
    total = 0
    for piece in answer.iter_raw():
        total += len(piece)
        if total > MAX_REPLY_BYTES:
            raise JoinRefused(f"an answer of more than {MAX_REPLY_BYTES} bytes", "oversized")
        yield piece


@contextmanager
def _appending(path: Path, start: int) -> Iterator[BinaryIO]:
    try:
        with path.open("ab") as file:
            file.truncate(start)
            file.seek(start)
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise storage_error(error, f"writing weights to {path}") from error
