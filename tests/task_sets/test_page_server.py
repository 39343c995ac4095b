"""Files of a folder, and nothing else, on loopback."""

from __future__ import annotations

import http.client
from pathlib import Path

from distrl.task_sets.page_server import PageServer


def test_it_serves_files_and_nothing_above_them(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>hello")
    (tmp_path / "secret").write_text("no")
    with PageServer(tmp_path / "pages") as server:
        host, _, port = server.url.removeprefix("http://").partition(":")
        assert host == "127.0.0.1"
        link = http.client.HTTPConnection(host, int(port), timeout=10)
        answers = {}
        for path in ("/a.html", "/", "/../secret", "/%2e%2e/secret", "/none"):
            link.request("GET", path)  # all over one connection
            answer = link.getresponse()
            answers[path] = answer.status, answer.read()
        link.close()
    assert answers.pop("/a.html") == (200, b"<p>hello")
    assert {status for status, _ in answers.values()} == {404}
