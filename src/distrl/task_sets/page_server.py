"""Serve a folder of web pages on loopback, for the browsers of this process.

Standard library: one thread for each connection, files only, no listings. It is not for other
machines: it listens on 127.0.0.1, on a port that the system chooses. Nor is it for other users of
this one, where the system knows who is at the other end (`loopback_peer`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from distrl.loopback_peer import is_own_peer, owners_are_known


class PageServer:
    """A context manager; `url` is where the folder's files are, without a slash at its end.

    `others`: folders whose files are under a path such as /pictures/ of the same site.
    """

    def __init__(self, folder: Path, others: Mapping[str, Path] | None = None) -> None:
        request = partial(_FileRequest, directory=str(folder), others=others or {})
        self._server = _Server(("127.0.0.1", 0), request)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="pages", daemon=True, args=(0.05,)
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a browser keeps its connections open

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Hang up on other users of this machine."""
        return not owners_are_known() or is_own_peer(client_address, request.getsockname())

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that ends in the middle of an answer is none of ours to report."""


class _FileRequest(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept
    disable_nagle_algorithm = True

    def __init__(self, *arguments: Any, others: Mapping[str, Path], directory: str) -> None:
        self._others = others
        super().__init__(*arguments, directory=directory)  # answers the whole connection

    def translate_path(self, path: str) -> str:
        first = self.directory
        for prefix, folder in self._others.items():
            if path.startswith(prefix):
                path, self.directory = path.removeprefix(prefix[:-1]), str(folder)
        try:
            return super().translate_path(path)
        finally:
            self.directory = first  # for the next request of this connection

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody reads these lines."""

    def list_directory(self, path: object) -> None:
        self.send_error(404)
