"""What tests of the page in a browser share: a server in a thread, and ways of waiting."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from distrl.view.resources import Resources
from distrl.view.run_catalogue import RunCatalogue
from distrl.view.server import Address, serve

if TYPE_CHECKING:
    from playwright.sync_api import Page


def served(path: Path) -> str:
    """Serve it from a thread of its own for as long as the tests last; returns its address."""
    ready: list[Address] = []
    known = threading.Event()

    def note(address: Address) -> None:
        ready.append(address)
        known.set()

    resources = Resources(RunCatalogue.at(path))
    threading.Thread(target=serve, args=(resources, Address(), note), daemon=True).start()
    assert known.wait(30.0)
    return ready[0].url


def until(page: Page, expression: str, seconds: float = 60.0) -> None:
    """Wait for an expression of the page to be true; its policy forbids playwright's own way."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(50)
