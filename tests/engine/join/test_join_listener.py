"""The listener as strangers and members meet it: over real TLS, on loopback."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from benchmarks.listening_learner import ListeningLearner, join_request, listening_learner
from tests.engine.join.raw_connections import raw_connection, said_until_closed
from tests.engine.made_up_reports import finished, report
from tests.replay.made_up_trajectories import trajectory

from distrl.engine.ingest.messages import Heartbeat
from distrl.engine.join import join_listener
from distrl.engine.join.identity import Identity, join_words
from distrl.engine.join.join_listener import open_socket
from distrl.engine.join.join_messages import (
    LIMITS,
    SEQUENCE,
    SESSION,
    Deliveries,
    DeliveryReply,
    JoinHeartbeat,
    Orders,
    Welcome,
    pack,
    unpack,
)
from distrl.errors import InvalidSetting
from distrl.replay.trajectory_encoding import encode_trajectory

LONG = 60.0


def test_replies_do_not_wait_for_acknowledgements() -> None:
    """A reply is two writes: with Nagle's algorithm the second waits, 40 ms on most systems."""
    with (
        open_socket("127.0.0.1:0") as listener,
        socket.create_connection(listener.getsockname(), LONG),
    ):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[ListeningLearner]:
    with listening_learner(tmp_path) as opened:
        yield opened


class Member:
    """A collector by hand: every request as the test wants it."""

    def __init__(self, learner: ListeningLearner, member: str = "0" * 32) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(learner.identity.certificate)
        self.http = httpx.Client(
            base_url=f"https://127.0.0.1:{learner.port}",
            verify=context,
            trust_env=False,
            timeout=LONG,
            limits=httpx.Limits(max_keepalive_connections=0),  # nothing is left open
            headers={"authorization": f"Bearer {learner.identity.token()}"},
        )
        request = join_request(member)
        self.session, self.number = request.session, 0
        self.welcome = unpack(self.http.post("/join", content=pack(request)).content, Welcome)

    def post(self, kind: str, body: bytes, **headers: str) -> httpx.Response:
        self.number += 1
        own = {SESSION: self.session, SEQUENCE: str(self.number)}
        return self.http.post(f"/{kind}", content=body, headers=own | headers)

    def deliver(self, *encoded: bytes) -> DeliveryReply:
        return unpack(self.post("deliver", pack(Deliveries(encoded))).content, DeliveryReply)

    def episode(self, number: int) -> bytes:
        return encode_trajectory(trajectory(f"{self.welcome.name}/{number}/t"))


def test_a_member_plays_its_part_to_the_end(learner: ListeningLearner) -> None:
    learner.publish(3)
    member = Member(learner)
    name = member.welcome.name
    assert name == "collector-1024.1"
    beat = JoinHeartbeat(2, Heartbeat(report(name=name), (), '{"started": 1}'))
    orders = unpack(member.post("heartbeat", pack(beat)).content, Orders)
    assert orders.reply.pace.free
    assert orders.reply.finish_within is None
    assert orders.weights is not None
    assert orders.weights.version == 3
    assert member.deliver(member.episode(1), member.episode(2)).received == (
        (f"{name}/1/t", True), (f"{name}/2/t", True),
    )  # fmt: skip
    assert learner.stored() == [f"{name}/1/t", f"{name}/2/t"]
    assert len(learner.arrivals) == 2
    assert learner.registry.states() == {1024: '{"started": 1}'}
    learner.registry.stop(9.0)
    orders = unpack(member.post("heartbeat", pack(JoinHeartbeat(0))).content, Orders)
    assert orders.reply.finish_within is not None
    assert 0.0 < orders.reply.finish_within <= 9.0
    assert not learner.registry.is_over()
    last = Heartbeat(report(name=name), (finished(f"{name}/1/t"),), "{}")
    assert member.post("leave", pack(JoinHeartbeat(0, last))).is_success
    assert learner.registry.is_over()
    assert member.post("deliver", pack(Deliveries((member.episode(3),)))).status_code == 410
    assert learner.refusals == {"unknown_session": 1}


def test_what_is_sent_again_is_stored_once(learner: ListeningLearner) -> None:
    member = Member(learner)
    one = member.episode(1)
    assert [new for _, new in member.deliver(one).received] == [True]
    assert [new for _, new in member.deliver(one, member.episode(2)).received] == [False, True]
    again = Member(learner)  # it was restarted, and still has the first one
    assert [new for _, new in again.deliver(one).received] == [False]
    assert len(learner.stored()) == 2


def test_a_replayed_request_changes_nothing_and_is_counted(learner: ListeningLearner) -> None:
    member = Member(learner)
    body = pack(Deliveries((member.episode(1),)))
    assert member.post("deliver", body).is_success
    replayed = member.post("deliver", body, **{SEQUENCE: str(member.number)})
    assert replayed.status_code == 409
    assert learner.refusals == {"replayed": 1}
    assert len(learner.stored()) == 1


def test_trajectories_of_others_and_broken_ones_are_not_stored(learner: ListeningLearner) -> None:
    member, other = Member(learner), Member(learner, "1" * 32)
    broken = bytearray(member.episode(1))
    broken[-3] ^= 1  # a pixel of a packed screen
    reply = member.deliver(other.episode(1), bytes(broken), b"DRTJ", member.episode(2))
    assert [place for place, _ in reply.unusable] == [0, 1, 2]
    assert [trajectory_id for trajectory_id, _ in reply.received] == [f"{member.welcome.name}/2/t"]
    assert learner.stored() == [f"{member.welcome.name}/2/t"]
    assert learner.refusals == {"unusable": 3}


def test_a_wrong_token_is_refused_before_anything_is_read(learner: ListeningLearner) -> None:
    member = Member(learner)
    for header in ("", "Bearer wrong", f"Basic {learner.identity.token()}"):
        answer = member.post("deliver", b"x", authorization=header)
        assert answer.status_code == 401
    assert member.http.get("/weights/0", headers={"authorization": ""}).status_code == 401
    assert learner.refusals == {"wrong_token": 4}
    assert learner.registry.episode_log.all_faults() == {"join_wrong_token": 4}
    assert learner.identity.token() not in " ".join(learner.said)


@pytest.mark.parametrize("kind", LIMITS)
def test_an_oversized_body_is_refused_by_its_header(learner: ListeningLearner, kind: str) -> None:
    member = Member(learner)
    with raw_connection(learner.port) as connection:
        connection.sendall(
            f"POST /{kind} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer "
            f"{learner.identity.token()}\r\ndistrl-session: {member.session}\r\n"
            f"distrl-sequence: 99\r\ncontent-length: {LIMITS[kind] + 1}\r\n\r\n".encode()
        )  # and not a byte of it
        assert said_until_closed(connection).startswith(b"HTTP/1.1 413 ")
    assert learner.refusals == {"oversized": 1}


def test_bodies_without_a_length_or_compressed_are_refused(learner: ListeningLearner) -> None:
    member = Member(learner)
    chunks = member.http.post("/join", content=iter([b"a", b"b"]))
    assert chunks.status_code == 411
    packed = member.post("heartbeat", b"x", **{"content-encoding": "gzip"})
    assert packed.status_code == 415
    assert member.post("heartbeat", b"\xc1").status_code == 400
    assert member.http.get("/").status_code == 404
    assert member.http.get("/join").status_code == 405
    assert learner.refusals == {
        "no_length": 1, "compressed": 1, "malformed": 1, "unknown_path": 2,
    }  # fmt: skip


@pytest.mark.parametrize("sent", [b"\x00\xff no HTTP\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"])
def test_what_is_no_http_request_is_counted_too(learner: ListeningLearner, sent: bytes) -> None:
    with raw_connection(learner.port) as connection:
        connection.sendall(sent)  # the second names no host
        assert said_until_closed(connection).startswith(b"HTTP/1.1 400 ")
    assert learner.refusals == {"malformed": 1}
    assert learner.registry.episode_log.all_faults() == {"join_malformed": 1}


def test_chunks_that_claim_a_length_are_refused(learner: ListeningLearner) -> None:
    """HTTP ignores the length where there are chunks, and so they could be of any size."""
    member = Member(learner)
    with raw_connection(learner.port) as connection:
        connection.sendall(
            f"POST /deliver HTTP/1.1\r\nhost: x\r\nauthorization: Bearer "
            f"{learner.identity.token()}\r\ndistrl-session: {member.session}\r\n"
            f"distrl-sequence: 99\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n"
            f"ffffff\r\n".encode()
        )
        assert said_until_closed(connection).startswith(b"HTTP/1.1 411 ")
    assert learner.refusals == {"no_length": 1}


def test_a_learner_that_is_behind_holds_the_answer_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening_learner(tmp_path, max_waiting=2) as learner:
        member = Member(learner)
        member.deliver(member.episode(1))
        replies: list[DeliveryReply] = []
        second = threading.Thread(
            target=lambda: replies.append(member.deliver(member.episode(2))), daemon=True
        )
        second.start()
        second.join(0.3)
        assert not replies
        learner.arrivals.popleft()
        learner.service.receiver.release()
        second.join(LONG)
        assert [new for _, new in replies[0].received] == [True]
        monkeypatch.setattr(join_listener, "HOLD_SECONDS", 0.05)
        assert len(member.deliver(member.episode(3)).received) == 1  # stored: it need not be resent
        assert len(learner.stored()) == 3


def test_weights_come_whole_or_from_any_byte_on(learner: ListeningLearner) -> None:
    learner.publish(1)
    learner.publish(2)
    newest = learner.weights.newest_file()
    assert newest is not None
    content, member = newest.path.read_bytes(), Member(learner)
    assert member.http.get(f"/weights/{newest.digest}").content == content
    rest = member.http.get(f"/weights/{newest.digest}", headers={"range": "bytes=100-"})
    assert (rest.status_code, rest.content) == (206, content[100:])
    assert member.http.get("/weights/" + "0" * 32).status_code == 404
    assert member.http.get("/weights/..%2f..%2fjoin%2fkey.pem").status_code == 404
    assert "join_wrong_token" not in learner.registry.episode_log.all_faults()


def test_an_address_that_cannot_be_listened_on_is_said(learner: ListeningLearner) -> None:
    for address in (f"127.0.0.1:{learner.port}", "192.0.2.1:0", "localhost:99999"):
        with pytest.raises(InvalidSetting, match=r"engine\.join\.listen"):
            open_socket(address)


def test_the_command_to_join_with_names_all_that_is_needed(tmp_path: Path) -> None:
    identity = Identity.in_folder(tmp_path)
    words = join_words("[::1]:0", 7700, identity)
    assert "--join https://[::1]:7700 " in words
    assert f"--fingerprint {identity.fingerprint} --token-file {identity.token_file}" in words
    assert identity.token() not in words
    assert f"https://{socket.gethostname()}:7700 " in join_words("0.0.0.0:0", 7700, identity)


def test_nothing_touches_the_store_once_the_listener_is_closed(tmp_path: Path) -> None:
    """SQLite does not survive a thread that stores while its database is being closed."""
    with listening_learner(tmp_path) as learner:
        member = Member(learner)
        service, closed = learner.service, list[str]()

        def close() -> None:
            service.close()
            closed.append("closed")

        closing = threading.Thread(target=close, daemon=True)
        sending = threading.Thread(target=member.deliver, args=(member.episode(1),), daemon=True)
        with service.receiver._lock:  # another thread stores meanwhile
            sending.start()
            while not service._working:
                sending.join(0.01)
            closing.start()
            closing.join(0.2)
            assert not closed
        closing.join(LONG)
        assert closed
        assert learner.stored() == [f"{member.welcome.name}/1/t"]
        assert member.post("deliver", pack(Deliveries((member.episode(2),)))).status_code == 503
        assert len(learner.stored()) == 1
