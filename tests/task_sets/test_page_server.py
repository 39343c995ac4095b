"""Files of a folder, and nothing else, on loopback."""

from __future__ import annotations

import http.client
import os
import socket
from pathlib import Path

import pytest

from distrl.task_sets.page_server import PageServer

LONG = 60.0  # seconds that no answer takes


def test_it_serves_files_and_nothing_above_them(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>hello")
    (tmp_path / "secret").write_text("no")
    with PageServer(tmp_path / "pages") as server:
        paths = ("/a.html", "/", "/../secret", "/%2e%2e/secret", "/none")
        answers = dict(zip(paths, asked(server, *paths), strict=True))
    assert answers.pop("/a.html") == (200, b"<p>hello")
    assert {status for status, _ in answers.values()} == {404}


def asked(server: PageServer, *paths: str) -> list[tuple[int, bytes]]:
    """Status and content of each, all over one connection."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    assert host == "127.0.0.1"
    link = http.client.HTTPConnection(host, int(port), timeout=LONG)
    answers = []
    for path in paths:
        link.request("GET", path)
        answer = link.getresponse()
        answers.append((answer.status, answer.read()))
    link.close()
    return answers


def test_files_of_another_folder_are_under_a_path_of_their_own(tmp_path: Path) -> None:
    for folder, text in (("pages", "a page"), ("pictures", "a picture")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a").write_text(text)
    (tmp_path / "secret").write_text("no")
    with PageServer(tmp_path / "pages", {"/cdn/": tmp_path / "pictures"}) as server:
        answers = asked(server, "/cdn/a", "/a", "/cdn/none", "/cdn/../secret", "/cdn/")
    assert answers[:2] == [(200, b"a picture"), (200, b"a page")]
    assert [status for status, _ in answers[2:]] == [404] * 3


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user for a moment")
def test_another_user_of_this_machine_is_hung_up_on(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>hello")
    with PageServer(tmp_path) as server:
        port = int(server.url.rpartition(":")[2])
        os.seteuid(65534)
        try:
            stranger = socket.create_connection(("127.0.0.1", port), timeout=LONG)
        finally:
            os.seteuid(0)
        with stranger:
            stranger.sendall(b"GET /a.html HTTP/1.1\r\nHost: here\r\n\r\n")
            assert stranger.recv(1) == b""
        assert asked(server, "/a.html") == [(200, b"<p>hello")]
