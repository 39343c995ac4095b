"""Serve a folder of web pages on loopback, for the browsers of this process.

Standard library: one thread for each connection, files only, no listings. It is not for other
machines: it listens on 127.0.0.1, on a port that the system chooses. Nor is it for other users of
this one: all paths begin with a word that is drawn for each server, and is in its `url`.
"""

from __future__ import annotations

import secrets
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


class PageServer:
    """A context manager; `url` is where the folder's files are, without a slash at its end."""

    def __init__(self, folder: Path) -> None:
        self._root = f"/{secrets.token_urlsafe(16)}"
        request = partial(_FileRequest, root=self._root, directory=str(folder))
        self._server = _Server(("127.0.0.1", 0), request)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="pages", daemon=True, args=(0.05,)
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}{self._root}"

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

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that ends in the middle of an answer is none of ours to report."""


class _FileRequest(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept
    disable_nagle_algorithm = True

    def __init__(self, *arguments: Any, root: str, directory: str) -> None:
        self._root = f"{root}/"  # of all paths
        super().__init__(*arguments, directory=directory)  # it answers before it returns

    def translate_path(self, path: str) -> str:
        """The file of a path; whoever does not know where they begin finds none."""
        if not path.startswith(self._root):
            return ""
        return super().translate_path(path.removeprefix(self._root))

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody reads these lines."""

    def list_directory(self, path: object) -> None:
        self.send_error(404)
