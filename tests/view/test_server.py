"""The server answers its own page alone, and only ever reads."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.view.made_up_run import write_run

from distrl.episodes.live_feed import FOLDER, FOLLOWED, LEASE
from distrl.errors import InvalidSetting
from distrl.view.resources import Resources
from distrl.view.run_catalogue import RunCatalogue
from distrl.view.server import Address, build_app, is_ours, wall_events

LOCAL = Address(port=7400)


def get(
    resources: Resources, path: str, address: Address = LOCAL, **options: str
) -> httpx.Response:
    async def ask() -> httpx.Response:
        ours = options.pop("ours", "yes") == "yes"
        app = build_app(resources, lambda: address, lambda _: ours)
        transport = httpx.ASGITransport(app=app)
        base = f"http://{options.pop('host', '127.0.0.1:7400')}"
        method = options.pop("method", "GET")
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            return await client.request(method, path, headers=options)

    return asyncio.run(ask())


def test_the_page_and_its_data_come_with_a_strict_policy(resources: Resources) -> None:
    for path in ("/", "/static/app.js", "/static/style.css", "/data/runs.json"):
        answer = get(resources, path)
        assert answer.status_code == 200, path
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_page_of_somebody_else_gets_nothing(resources: Resources) -> None:
    assert get(resources, "/data/runs.json", host="evil.example:7400").status_code == 421
    assert get(resources, "/data/runs.json", host="localhost:7400").status_code == 200
    assert get(resources, "/data/runs.json", method="POST").status_code == 405
    assert get(resources, "/data/runs.json", method="DELETE").status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/static/..%2fserver.py", "/static/../server.py", "/data/..%2f..%2fetc%2fpasswd", "/nothing",
     "/live/nothing", "/data/small/screen/1-9.jpg"],
)  # fmt: skip
def test_files_beside_are_not_reached(resources: Resources, path: str) -> None:
    assert get(resources, path).status_code == 404


def test_another_user_of_this_machine_gets_nothing(resources: Resources) -> None:
    for path in ("/", "/static/app.js", "/data/runs.json", "/live/small"):
        assert get(resources, path, ours="no").status_code == 403
    with_token = Address("127.0.0.1", 7400, "secret")
    assert get(resources, "/", with_token, ours="no").status_code == 401
    assert get(resources, "/?token=secret", with_token, ours="no").status_code == 303


def test_a_request_is_ours_by_the_owner_of_its_connection() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as mine,
    ):
        ends = {"client": mine.getsockname(), "server": mine.getpeername()}
        assert is_ours(ends)
        assert not is_ours({**ends, "client": ("127.0.0.1", 1)})
        assert not is_ours({"client": None, "server": None})


def test_beyond_loopback_there_is_a_token(resources: Resources) -> None:
    with pytest.raises(InvalidSetting, match="--token"):
        Address("0.0.0.0", 7400)
    open_address = Address("0.0.0.0", 7400, "secret")
    assert get(resources, "/", open_address, host="lab:7400").status_code == 401
    assert get(resources, "/?token=wrong", open_address, host="lab:7400").status_code == 401
    first = get(resources, "/?token=secret", open_address, host="lab:7400")
    assert first.status_code == 303
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    again = get(resources, "/", open_address, host="lab:7400", cookie=cookie.partition(";")[0])
    assert again.status_code == 200


def test_pages_of_other_origins_make_it_do_nothing(resources: Resources) -> None:
    def asked(path: str, origin: str) -> int:
        return get(resources, path, LOCAL, **{"sec-fetch-site": origin}).status_code

    assert asked("/data/runs.json", "cross-site") == asked("/live/small", "cross-site") == 403
    assert asked("/", "cross-site") == 200  # a link to the page
    assert asked("/data/names.json", "same-origin") == 200


def test_who_does_not_show_phones_asks_none_to_show_themselves(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    resources = Resources(RunCatalogue.at(tmp_path))

    async def first_event() -> bytes:
        async for event in wall_events(resources, "small", run.path, phones=False):
            return event
        return b""

    with run.held():
        assert b'"state":"running"' in asyncio.run(first_event())
    assert not (run.path / FOLDER).exists()


def test_watching_leaves_a_lease_only_where_a_run_trains(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    resources = Resources(RunCatalogue.at(tmp_path))

    async def first_event() -> bytes:
        async for event in wall_events(resources, "small", run.path):
            return event
        return b""

    assert b'"state":"stopped"' in asyncio.run(first_event())
    assert not (run.path / FOLDER).exists()
    with run.held():
        assert b'"state":"running"' in asyncio.run(first_event())
    assert (run.path / FOLDER / LEASE).exists()


def test_the_phone_that_is_followed_is_named_beside_the_lease(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    resources = Resources(RunCatalogue.at(tmp_path))

    async def first_event() -> None:
        async for _ in wall_events(resources, "small", run.path, followed="phone-1"):
            return

    with run.held():
        asyncio.run(first_event())
    assert (run.path / FOLDER / FOLLOWED).read_text("utf-8") == "phone-1"


def test_the_page_is_served_without_torch() -> None:
    code = "import sys, distrl.view.server; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"False\n"  # a second and a half, and 300 MB


def test_the_page_loads_nothing_from_elsewhere() -> None:
    from distrl.view.server import STATIC

    for path in Path(STATIC).iterdir():
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text, path
        assert "https:" not in text, path
        assert "innerHTML" not in text, path
        assert "insertAdjacentHTML" not in text, path
