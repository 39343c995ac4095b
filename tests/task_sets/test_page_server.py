"""Files of a folder, and nothing else, on loopback."""

from __future__ import annotations

import http.client
from pathlib import Path
from urllib.parse import urlsplit

from distrl.task_sets.page_server import PageServer

LONG = 60.0  # seconds that no answer takes


def test_it_serves_files_and_nothing_above_them(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>hello")
    (tmp_path / "secret").write_text("no")
    with PageServer(tmp_path / "pages") as server:
        parts = urlsplit(server.url)
        assert parts.hostname == "127.0.0.1"
        link = http.client.HTTPConnection(parts.hostname, parts.port, timeout=LONG)
        root, answers = parts.path, {}
        inside = ("/a.html", "/", "/../secret", "/%2e%2e/secret", "/none", "/../../secret")
        for path in (*(root + each for each in inside), root):
            link.request("GET", path)  # all over one connection
            answer = link.getresponse()
            answers[path] = answer.status, answer.read()
        link.close()
    assert answers.pop(f"{root}/a.html") == (200, b"<p>hello")
    assert {status for status, _ in answers.values()} == {404}


def test_it_serves_nobody_who_was_not_told_where(tmp_path: Path) -> None:
    """Every user of this machine can connect to the port."""
    (tmp_path / "a.html").write_text("<p>hello")
    with PageServer(tmp_path) as server, PageServer(tmp_path) as another:
        parts = urlsplit(server.url)
        link = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=LONG)
        statuses = []
        for root in ("", "/", "/.", "/" + "x" * 22, urlsplit(another.url).path, parts.path[:-1]):
            link.request("GET", f"{root}/a.html")
            answer = link.getresponse()
            answer.read()
            statuses.append(answer.status)
        link.close()
    assert statuses == [404] * 6
