"""Simulate a browser that shows the wall: read its events, and fetch figures as the page does.

    python benchmarks/wall_reader.py PORT RUN

A script with almost no imports, so that its start hardly affects the measurement. It prints a line
when the first phones arrive. Every `REFRESH_SECONDS` it fetches what `app.js` and `wall.js` then
fetch: the summary of the run and its newest episodes. It ends when it is terminated.
"""

from __future__ import annotations

import http.client
import sys
import time

REFRESH_SECONDS = 6.0
ASKED = ("summary.json", "newest.json")


def watch(port: int, run: str) -> None:
    events = http.client.HTTPConnection("127.0.0.1", port, timeout=60.0)
    events.request("GET", f"/live/{run}")
    answer, known, refreshed = events.getresponse(), False, time.monotonic()
    while line := answer.readline():
        if line == b"event: phones\n" and not known:
            known = True
            print("phones", flush=True)
        if time.monotonic() - refreshed >= REFRESH_SECONDS:
            refreshed = time.monotonic()
            get(port, run)


def get(port: int, run: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60.0)
    for name in ASKED:
        connection.request("GET", f"/data/{run}/{name}")
        connection.getresponse().read()
    connection.close()


if __name__ == "__main__":
    watch(int(sys.argv[1]), sys.argv[2])
