"""Serve phones to OpenEnv's clients: `python -m distrl.environments.openenv_server --port 8000`.

It listens on this machine alone unless `--host` says otherwise: whoever reaches the port operates
the phones, and OpenEnv has no passwords.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence

from distrl.episodes.tool_environment import ToolEnvironment
from distrl.errors import DistrlError
from phonesim.tasks.task_sets import load_task


def main(words: Sequence[str] | None = None) -> None:
    """Serve until interrupted; what is wrong is said in a sentence."""
    given = _options().parse_args(words)
    try:
        if given.task:
            load_task(given.task)
        from distrl.environments.openenv_environment import PhoneEnvironment, phone_app
    except DistrlError as error:
        sys.exit(str(error))
    import uvicorn

    tools = functools.partial(ToolEnvironment, pictures=given.pictures)
    phones = functools.partial(PhoneEnvironment, tools, given.task)
    uvicorn.run(phone_app(phones, given.sessions), host=given.host, port=given.port)


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="distrl.environments.openenv_server")
    options.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    options.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")
    options.add_argument("--task", help="task that phones start with, for agents that cannot reset")
    options.add_argument("--sessions", type=int, default=64, help="phones at once (%(default)s)")
    options.add_argument(
        "--pictures", action="store_true", help="answer with pictures beside the text"
    )
    return options


if __name__ == "__main__":
    main()
