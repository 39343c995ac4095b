"""The measurement of a page, on a page of our own: nobody has MobileGym where tests run."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from benchmarks.mobilegym import measure_mobilegym

from distrl.devices.browser.chromium import PROGRAMS

PAGE = "<!doctype html><meta name=viewport content='width=device-width'><button>Tap</button>"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "index.html").write_text(PAGE)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, PROGRAMS)), reason="there is no Chromium")
def test_a_page_is_measured(url: str) -> None:
    figures = measure_mobilegym(url)
    assert set(figures) == {
        "mobilegym_first_screen_ms", "mobilegym_step_ms_p50", "mobilegym_steps_per_s",
        "mobilegym_reset_ms",
    }  # fmt: skip
    assert all(value > 0 for value in figures.values())
