"""The client talks to the learner that was named and to nobody else."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.faulty_relay import FaultyRelay
from benchmarks.listening_learner import ListeningLearner, join_request, listening_learner

from distrl.engine.join import learner_client
from distrl.engine.join.join_messages import JoinHeartbeat, WeightOffer
from distrl.engine.join.learner_client import LearnerClient
from distrl.errors import InvalidSetting, JoinRefused, LearnerGone, WrongFingerprint


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[ListeningLearner]:
    with listening_learner(tmp_path) as opened:
        yield opened


def test_a_wrong_fingerprint_ends_it_before_the_token_is_sent(learner: ListeningLearner) -> None:
    with (
        learner.client(fingerprint="0" * 64) as client,
        pytest.raises(WrongFingerprint, match="nothing was sent"),
    ):
        client.join(join_request())
    assert not learner.registry.collectors()
    assert learner.refusals == {}


def test_a_certificate_that_changes_is_not_trusted(
    learner: ListeningLearner, tmp_path: Path
) -> None:
    with listening_learner(tmp_path / "impostor") as impostor, learner.client() as client:
        client.join(join_request())
        client._http.base_url = f"https://127.0.0.1:{impostor.port}"  # type: ignore[union-attr]
        with pytest.raises(LearnerGone, match="CERTIFICATE_VERIFY_FAILED"):
            client.heartbeat(JoinHeartbeat(0))
        assert impostor.refusals == {}  # it has not even seen a request


def test_a_wrong_token_is_an_error_that_says_so(learner: ListeningLearner) -> None:
    with learner.client(token="x" * 43) as client, pytest.raises(JoinRefused) as caught:
        client.join(join_request())
    assert (caught.value.status, caught.value.reason) == (401, "wrong_token")
    assert "copy the token file" in str(caught.value)
    assert learner.refusals == {"wrong_token": 1}


def test_nobody_there_is_a_learner_that_is_gone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = LearnerClient(f"https://127.0.0.1:{port}", "x" * 43, "0" * 64)
    with client, pytest.raises(LearnerGone):
        client.join(join_request())


@pytest.mark.parametrize("url", ["http://host:1", "host:1", "https://"])
def test_only_https_is_spoken(url: str) -> None:
    with pytest.raises(InvalidSetting, match="https://HOST:PORT"):
        LearnerClient(url, "x" * 43, "0" * 64)
    with pytest.raises(InvalidSetting, match="64 hexadecimal digits"):
        LearnerClient("https://host:1", "x" * 43, "12:34")


def test_weights_go_on_where_the_last_fetch_was_cut(
    learner: ListeningLearner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner.publish(1, size=500_000)
    newest = learner.weights.newest_file()
    assert newest is not None
    content, path = newest.path.read_bytes(), tmp_path / "fetched"
    offer = WeightOffer(1, newest.digest, len(content))
    with FaultyRelay(learner.port) as relay, learner.client(relay.port) as client:
        client.join(join_request())
        path.write_bytes(content[:1000])
        monkeypatch.setattr(learner_client, "PIECE", 1 << 12)
        relay.cut()
        with pytest.raises(LearnerGone):
            client.fetch_weights(offer, path)
        assert path.read_bytes() == content[:1000]
        relay.mend()
        client.fetch_weights(offer, path)
        assert path.read_bytes() == content
        path.write_bytes(content + b"of something else")
        client.fetch_weights(offer, path)
        assert path.read_bytes() == content
        with pytest.raises(JoinRefused, match="more than"):
            client.fetch_weights(WeightOffer(1, newest.digest, 50), tmp_path / "short")
