"""Keeps what a run has trained, as a model that other commands take: `policy/` in its directory."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from safetensors import SafetensorError

from distrl.agent.policy_weights import export_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.runs.run_directory import RunDirectory


def keep_policy(
    run: RunDirectory, policy: VlmPolicy, version: int, say: Callable[[str], None]
) -> None:
    """Export the policy, in place of an earlier one. A full disk costs it, not the run's result."""
    fresh, old = run.path / ".policy-new", run.path / ".policy-old"
    try:
        for each in (fresh, old):
            shutil.rmtree(each, ignore_errors=True)
        export_policy(policy, fresh, version)
        if run.policy.exists():
            run.policy.rename(old)
        fresh.rename(run.policy)
        shutil.rmtree(old, ignore_errors=True)
    except (OSError, SafetensorError) as error:
        say(
            f"the policy could not be written to {run.policy}: {error}; it is in the checkpoint, "
            f"and `distrl train --resume {run.path}` writes it again"
        )
