"""Leave out what needs packages that no trainer brings (`make test-trainers`)."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("gymnasium") and find_spec("torch") else ["test_device_env.py"]
