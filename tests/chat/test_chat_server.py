"""Everything that goes wrong with a server, on a real socket: what passes, and what does not."""

from __future__ import annotations

import logging
import socket
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from tests.agent.served_policies import FINE, KEY, observation, policy_at
from tests.chat.chat_protocol import (
    Asked,
    Reply,
    completion,
    serving,
    texts_in,
)

from distrl.agent.dialects.compact import COMPACT
from distrl.agent.prompt import Prompter
from distrl.agent.served_policy import ServedPolicy, ServedSampling
from distrl.chat.chat_server import ChatServer, ServerSettings
from distrl.errors import (
    ChatServerError,
    ChatServerUnreachable,
    InvalidSetting,
    RequestRefused,
    UnusableAnswer,
)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://host/v1", "http://", ""])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting, match="http://localhost:8000/v1"):
        ServerSettings(url)


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(InvalidSetting) as refused:
        ServerSettings(f"http://me:{KEY}@host/v1")
    assert KEY not in str(refused.value)


# Faults ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        Reply(b"oops", status=500),
        Reply(b"", status=503),
        Reply(b"slow down", status=429, headers={"Retry-After": "0"}),
        Reply(b"", hang_up=True),
        Reply(b'{"choices": [{"mess'),
        Reply(b"[]"),
        Reply(b"\xff\xfe"),
        Reply(completion(finish="abort")),
    ],
    ids=["500", "503", "429", "hang_up", "half_json", "no_object", "no_text", "aborted"],
)
def test_what_may_pass_is_tried_again(first: Reply) -> None:
    with serving(first, FINE) as (url, log), policy_at(url) as policy:
        [decision] = policy.decide([observation()])
    assert decision.token_ids == (5, 6, 2)
    assert len(log.completions) == 2


@pytest.mark.parametrize("dated", [False, True])
def test_the_server_says_how_long_to_wait(dated: bool) -> None:
    until = datetime.now(UTC) + timedelta(hours=2)
    after = format_datetime(until, usegmt=True) if dated else "7200"
    busy = Reply(b"", status=429, headers={"Retry-After": after})
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return False

    with serving(busy, FINE) as (url, _), httpx.Client() as client:
        settings = ServerSettings(url, deadline_s=3 * 3600.0, max_wait_s=10.0)
        ChatServer(settings, client, wait=wait).post("/chat/completions", {})
    [waited] = waits
    assert 3600.0 < waited <= 7200.0  # a wait of our own is of 10 s at most


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    busy = Reply(b"busy", status=429, headers={"Retry-After": "3600"})
    with (
        serving(busy) as (url, log),
        policy_at(url, deadline_s=30.0) as policy,
        pytest.raises(ChatServerUnreachable, match="answered 429: busy; gave up after 1 of 5"),
    ):
        policy.decide([observation()])
    assert len(log.completions) == 1


def test_tries_are_counted() -> None:
    with (
        serving(Reply(b"broken", status=500)) as (url, log),
        policy_at(url, tries=3) as policy,
        pytest.raises(ChatServerUnreachable, match="3 of 3 tries"),
    ):
        policy.decide([observation()])
    assert len(log.completions) == 3


@pytest.mark.parametrize(
    ("slow", "said"),
    [
        (Reply(completion(), hold=threading.Event()), "ReadTimeout"),
        (Reply(completion(), trickle_s=0.05), "did not end before the deadline"),
    ],
    ids=["silent", "trickling"],
)
def test_a_server_that_is_too_slow_ends_at_the_deadline(slow: Reply, said: str) -> None:
    with (
        serving(slow) as (url, _),
        policy_at(url, deadline_s=2.0) as policy,
        pytest.raises(ChatServerUnreachable, match=said),
    ):
        policy.decide([observation()])


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: nobody answers at this port
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with (
            policy_at(url, tries=2) as policy,
            pytest.raises(ChatServerUnreachable, match=r"ConnectError.*server is up"),
        ):
            policy.decide([observation()])


@pytest.mark.parametrize(
    ("content", "said"), [(b"<html>", "<html>"), (b"[" * 100_000, "recursion")]
)
def test_malformed_json_to_the_end_is_an_unusable_answer(content: bytes, said: str) -> None:
    with (
        serving(Reply(content)) as (url, _),
        policy_at(url, tries=2) as policy,
        pytest.raises(UnusableAnswer, match=rf"no JSON.*{said}"),
    ):
        policy.decide([observation()])


def test_one_failure_fails_the_batch() -> None:
    def fails_for_the_third(asked: Asked) -> bytes:
        third = "task3" in texts_in(asked)[0]
        return completion(token_ids=None if third else [5, 6, 2])

    with (
        serving(Reply(fails_for_the_third)) as (url, _),
        policy_at(url) as policy,
        pytest.raises(ChatServerError),
    ):
        policy.decide([observation(f"task{number}") for number in range(6)])


class WatchedTransport(httpx.BaseTransport):
    """Refuses the quick one when the slow one is there, and that when told; notes its closing."""

    def __init__(self) -> None:
        self.slow_one = threading.Event()
        self.released = threading.Event()
        self.in_flight = 0
        self.in_flight_when_closed: int | None = None
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with self._lock:
            self.in_flight += 1
        if b"slow" in request.read():
            self.slow_one.set()
            self.released.wait(60.0)
        else:
            self.slow_one.wait(60.0)
        with self._lock:
            self.in_flight -= 1
        return httpx.Response(400, content=b"no")

    def close(self) -> None:
        self.in_flight_when_closed = self.in_flight


def test_connections_are_closed_when_nobody_can_open_another() -> None:
    transport = WatchedTransport()
    settings = ServerSettings("http://127.0.0.1:9/v1")
    server = ChatServer(settings, httpx.Client(transport=transport))
    policy = ServedPolicy(server, Prompter(COMPACT), ServedSampling(), model="policy")
    with pytest.raises(RequestRefused):
        policy.decide([observation("quick"), observation("slow")])
    closing = threading.Thread(target=policy.close)
    closing.start()
    transport.released.set()
    closing.join(60.0)
    assert transport.in_flight_when_closed == 0


# The key -----------------------------------------------------------------------------------------


def test_the_key_comes_from_the_environment_and_is_never_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(FINE) as (url, log), policy_at(url) as policy:
        policy.decide([observation()])
    assert "Authorization" not in log.headers[0]
    monkeypatch.setenv("DISTRL_SERVER_KEY", KEY)
    with serving(FINE) as (url, log), policy_at(url) as policy:
        policy.decide([observation()])
    assert log.headers[0]["Authorization"] == f"Bearer {KEY}"
    wrong = Reply(f"Incorrect key: {KEY}".encode(), status=401)
    with (
        serving(wrong) as (url, log),
        policy_at(url) as policy,
        pytest.raises(RequestRefused, match=r"401.*DISTRL_SERVER_KEY") as refused,
    ):
        policy.decide([observation()])
    assert len(log.completions) == 1
    assert KEY not in str(refused.value) + repr(policy) + caplog.text


def test_a_redirect_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISTRL_SERVER_KEY", KEY)
    with serving(FINE) as (elsewhere, other):
        away = Reply(b"", status=307, headers={"Location": f"{elsewhere}/chat/completions"})
        with (
            serving(away) as (url, _),
            policy_at(url) as policy,
            pytest.raises(RequestRefused, match="307"),
        ):
            policy.decide([observation()])
    assert not other.completions
