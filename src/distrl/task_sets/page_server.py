"""Serves a folder of web pages on loopback, for the browsers of this process.

Standard library only: one thread per connection, files only, no directory listings. It listens on
127.0.0.1, on a port that the system chooses, so other machines cannot reach it. It also refuses
other users of this machine, if the system can tell who owns a connection (`loopback_peer`).
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
    """The server, a context manager; `url` is its root, without a slash at the end.

    `others`: more folders, by a path such as /pictures/ under which they are served.
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
        """Refuse connections of other users of this machine."""
        return not owners_are_known() or is_own_peer(client_address, request.getsockname())

    def handle_error(self, request: object, client_address: object) -> None:
        """Do not log errors: a browser may exit in the middle of a response."""


class _FileRequest(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep connections alive
    disable_nagle_algorithm = True

    def __init__(self, *arguments: Any, others: Mapping[str, Path], directory: str) -> None:
        self._others = others
        super().__init__(*arguments, directory=directory)  # handles all requests of the connection

    def translate_path(self, path: str) -> str:
        first = self.directory
        for prefix, folder in self._others.items():
            if path.startswith(prefix):
                path, self.directory = path.removeprefix(prefix[:-1]), str(folder)
        try:
            return super().translate_path(path)
        finally:
            self.directory = first  # restored for the next request of this connection

    def log_message(self, format: str, *arguments: object) -> None:
        """Do not log requests."""

    def list_directory(self, path: object) -> None:
        self.send_error(404)
