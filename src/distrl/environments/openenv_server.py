"""Serve phones to OpenEnv's clients: `python -m distrl.environments.openenv_server --port 8000`.

By default it listens on loopback and serves only processes of this user: whoever reaches the port
operates the phones, and OpenEnv has no passwords. `--any-user` opens it to all users of this
machine, and with `--host` to whoever can reach that address.
"""

from __future__ import annotations

import argparse
import functools
import ipaddress
import sys
from collections.abc import Sequence

from distrl.environments.own_peers import OwnPeersOnly
from distrl.episodes.tool_environment import ToolEnvironment
from distrl.errors import DistrlError
from distrl.loopback_peer import owners_are_known
from phonesim.tasks.task_sets import load_task


def main(words: Sequence[str] | None = None) -> None:
    """Serve until interrupted; exit with a message if that is impossible."""
    options = _options()
    given = options.parse_args(words)
    if not given.any_user:
        _refuse_unknown_peers(options, given.host)
    try:
        if given.task:
            load_task(given.task)
        from distrl.environments.openenv_environment import PhoneEnvironment, phone_app
    except DistrlError as error:
        sys.exit(str(error))
    import uvicorn

    tools = functools.partial(ToolEnvironment, pictures=given.pictures)
    phones = functools.partial(PhoneEnvironment, tools, given.task)
    app = phone_app(phones, given.sessions)
    served = app if given.any_user else OwnPeersOnly(app)
    uvicorn.run(served, host=given.host, port=given.port, proxy_headers=False)


def _refuse_unknown_peers(options: argparse.ArgumentParser, host: str) -> None:
    """Exit with a message if it cannot be determined whose processes the clients are."""
    if host != "localhost" and not _is_loopback(host):
        options.error(f"--host {host} is for other machines, whose users nobody knows: --any-user")
    if not owners_are_known():
        options.error("this system does not say whose connections are whose: give --any-user")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="distrl.environments.openenv_server")
    options.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    options.add_argument(
        "--any-user", action="store_true", help="serve everybody who can reach the address"
    )
    options.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")
    options.add_argument("--task", help="task that phones start with, for agents that cannot reset")
    options.add_argument("--sessions", type=int, default=64, help="phones at once (%(default)s)")
    options.add_argument(
        "--pictures", action="store_true", help="answer with pictures beside the text"
    )
    return options


if __name__ == "__main__":
    main()
