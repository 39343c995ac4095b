"""Certificate, key and token: made once, found again, private."""

from __future__ import annotations

import itertools
import os
import ssl
from pathlib import Path
from typing import Any

import pytest

from distrl.engine.join.identity import Identity, fingerprint_of, read_token
from distrl.errors import DataLost, InvalidSetting, StorageError


def test_it_is_made_once_and_found_again(tmp_path: Path) -> None:
    first = Identity.in_folder(tmp_path / "join")
    again = Identity.in_folder(tmp_path / "join")
    assert (again.fingerprint, again.token()) == (first.fingerprint, first.token())
    other = Identity.in_folder(tmp_path / "other")
    assert other.fingerprint != first.fingerprint
    assert other.token() != first.token()
    for secret in (first.key, first.token_file):
        assert secret.stat().st_mode & 0o077 == 0
    assert first.folder.stat().st_mode & 0o077 == 0


def test_the_certificate_is_its_own_and_no_authority(tmp_path: Path) -> None:
    identity = Identity.in_folder(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)  # they belong together
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.load_verify_locations(identity.certificate)
    assert trusting.get_ca_certs() == []
    assert identity.fingerprint == fingerprint_of(identity.certificate.read_text())
    assert len(identity.fingerprint) == 64


@pytest.mark.parametrize("name", ["key.pem", "certificate.pem", "token"])
def test_what_is_damaged_or_gone_is_refused_and_not_made_anew(tmp_path: Path, name: str) -> None:
    """Collectors know the learner by it: another one would be refused by all of them."""
    Identity.in_folder(tmp_path)
    whole = (tmp_path / name).read_bytes()
    places = range(0, len(whole) - (1 if name == "token" else 32), 5)  # not the padding at the end
    for at in (each for each in places if whole[each] != ord("\n")):
        (tmp_path / name).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises((DataLost, InvalidSetting), match=name):
            Identity.in_folder(tmp_path).token()
    for content in (b"\xff" + whole[1:], whole[: len(whole) // 2], whole[:25]):
        (tmp_path / name).write_bytes(content)
        with pytest.raises((DataLost, InvalidSetting), match=name):
            Identity.in_folder(tmp_path).token()
    (tmp_path / name).unlink()
    with pytest.raises((DataLost, InvalidSetting), match=name):
        Identity.in_folder(tmp_path).token()


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_first_start_that_was_interrupted_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int
) -> None:
    owner: Any = os if step == "fsync" else Path
    original, calls = getattr(owner, step), itertools.count(1)

    def interrupted(*arguments: Any) -> Any:
        if next(calls) == number:
            raise KeyboardInterrupt
        return original(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(owner, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            Identity.in_folder(tmp_path)
    identity = Identity.in_folder(tmp_path)
    assert identity.token()
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "certificate.pem",
        "key.pem",
        "token",
    ]
    assert Identity.in_folder(tmp_path).fingerprint == identity.fingerprint


def test_a_token_of_other_makers_is_taken(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a-token-that-somebody-has-chosen")
    assert read_token(tmp_path / "token") == "a-token-that-somebody-has-chosen"


@pytest.mark.parametrize("content", ["", "short", "two words and more of them", "ä" * 30])
def test_what_is_no_token_is_refused_and_not_shown(tmp_path: Path, content: str) -> None:
    file = tmp_path / "token"
    file.write_text(content, "utf-8")
    with pytest.raises(InvalidSetting, match="holds no token") as caught:
        read_token(file)
    assert not content or content not in str(caught.value)
    with pytest.raises(InvalidSetting, match="cannot be read"):
        read_token(tmp_path / "missing")


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="certificate to join with"):
        Identity.in_folder(tmp_path / "file" / "join")
