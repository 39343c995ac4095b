"""The three uses of Ray's private API, each with the public ways that were tried (Ray 2.60).

Nothing else in DistRL imports `ray._raylet` or `ray._private` (checked by the architecture tests).
"""

from __future__ import annotations

import importlib
import logging
from typing import Any

log = logging.getLogger(__name__)


def control_store(address: str) -> Any:
    """Return a client of the head's control store (GCS), which asks without joining the cluster.

    It tells versions, nodes and whether our token is accepted, within seconds and from a machine
    that is no node of the cluster. There is no public way: `ray.init` needs a node of the cluster
    on this machine, retries for 20 to 60 s and may end the process; `ray.util.state` and the job
    API ask the dashboard, which our heads do not run; `ray status` prints no versions and
    `ray health-check` is hidden. A public check was asked for (ray-project/ray#31822) and proposed
    (ray-project/ray#63771), and neither was merged; Ray's own commands use this class.
    """
    raylet: Any = importlib.import_module("ray._raylet")  # compiled, without types
    return raylet.GcsClient(address=address)


def reread_environment(*, loopback_only: bool) -> None:
    """Let a Ray that is already imported see the environment variables as they are now.

    Ray reads RAY_AUTH_MODE, the token and RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER once, while it is
    imported, and has no public function to read them again nor arguments of `ray.init` for them.
    The modules of this engine import `ray` before `connect` knows the cluster, and a process may
    connect to several clusters in turn. Ray's own tests do the same
    (`ray._private.authentication_test_utils`).
    """
    raylet: Any = importlib.import_module("ray._raylet")
    constants: Any = importlib.import_module("ray._private.ray_constants")
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()
    constants.ENABLE_RAY_CLUSTER = not loopback_only


def keep_messages_off_the_terminal() -> None:
    """Log what Ray prints of its nodes and retries, such as the stack of every raylet that ended.

    Ray prints them to standard output whatever `log_to_driver` and `logging_level` say, and has no
    setting for it. The run itself reports what it lost.
    """
    worker: Any = importlib.import_module("ray._private.worker")
    worker.print_to_stdstream = _log_message


def _log_message(data: dict[str, Any], ignore_prefix: bool) -> None:  # noqa: ARG001
    log.info("%s", "\n".join(data["lines"]))
