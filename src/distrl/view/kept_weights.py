"""The weights of a run that are still stored and can be loaded to score steps again.

A run keeps the newest few versions that it published, its newest checkpoints, and what it exported;
its initial weights are those of its model. All others are gone: an episode keeps its own tokens and
probabilities, but those weights can compute nothing new.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distrl.agent.export_directory import MANIFEST
from distrl.errors import DistrlError, UsageError
from distrl.runs.run_directory import RunDirectory
from distrl.view.run_summary import settings_of
from distrl.weights.weight_file import read_weights
from distrl.weights.weight_store import WeightStore

if TYPE_CHECKING:  # it loads torch
    from distrl.agent.vlm_policy import VlmPolicy

START, FINAL = "start", "final"
MAX_MODEL_BYTES = 2 << 30  # of weights on the disk; the page shares the machine with the run


@dataclass(frozen=True, slots=True)
class KeptWeights:
    """Weights that can be loaded. `key` names them in URLs; `version` None: not known yet."""

    key: str
    words: str
    version: int | None


def kept_weights(run: RunDirectory) -> list[KeptWeights]:
    """List stored weights: initial, checkpoints, published, exported; empty without settings."""
    if not settings_of(run).get("agent.model"):
        return []
    found = [KeptWeights(START, "before training", 0), *_checkpoints(run), *_published(run)]
    final = _exported_version(run)
    if final is not None:
        found.append(KeptWeights(FINAL, f"as exported, version {final}", final))
    return found


def _checkpoints(run: RunDirectory) -> Iterator[KeptWeights]:
    for path in sorted(run.checkpoints.glob("update-*")):
        updates, _, edition = path.name.removeprefix("update-").partition(".")
        if updates.isdigit() and edition.isdigit():
            yield KeptWeights(path.name, f"checkpoint at update {int(updates)}", None)


def _published(run: RunDirectory) -> list[KeptWeights]:
    try:
        versions = sorted(each.version for each in WeightStore(run.weights).files())
    except DistrlError:
        return []
    return [KeptWeights(f"v{version}", f"version {version}", version) for version in versions]


def _exported_version(run: RunDirectory) -> int | None:
    try:
        return int(json.loads((run.policy / MANIFEST).read_text("utf-8"))["weight_version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


class RunPolicy:
    """A run's policy on the CPU, which can load any of the kept weights. Imports torch."""

    def __init__(self, run: RunDirectory) -> None:
        self.run = run
        self.policy = _open(run)
        self._start = self.policy.weights()
        self._held = START

    def hold(self, key: str) -> VlmPolicy:
        """Load these weights and return the policy; raise `LookupError` if they are not kept."""
        if key != self._held:
            self._held = ""
            self._load(key)
            self._held = key
        return self.policy

    def _load(self, key: str) -> None:
        if key not in {each.key for each in kept_weights(self.run)}:
            raise LookupError(f"the weights {key} are not kept")
        if key == START:
            self.policy.load_weights(self._start, 0)
        elif key == FINAL:
            from distrl.agent.policy_weights import load_exported

            load_exported(self.policy, self.run.policy)
        elif key.startswith("v"):
            files = {f"v{each.version}": each for each in WeightStore(self.run.weights).files()}
            if key not in files:
                raise LookupError(f"the weights {key} are not kept any more")
            found = files[key]
            weights = read_weights(found.path, found.digest, "pt")
            self.policy.load_weights(weights, found.version)
        else:
            self._load_checkpoint(self.run.checkpoints / key)

    def _load_checkpoint(self, path: Path) -> None:
        from distrl.learning.checkpoint import read_checkpoint

        learner: dict[str, Any] = read_checkpoint(path)["learner"]
        self.policy.load_weights(learner["policy"], int(learner["version"]))


def _open(run: RunDirectory) -> VlmPolicy:
    from dataclasses import replace

    from distrl.agent.loading import open_policy
    from distrl.config.training_config import load_config
    from distrl.reporting.model_size import model_bytes

    agent = load_config(run.config).agent
    if agent.server:
        raise UsageError("a server decides in this run (agent.server); ask the server")
    if (nbytes := model_bytes(agent.model) or 0) > MAX_MODEL_BYTES:
        raise UsageError(
            f"{agent.model} has {nbytes / 1e9:.0f} GB of weights, and the page computes on the CPU "
            f"with at most {MAX_MODEL_BYTES / 1e9:.0f} GB; let `distrl play` ask it on a GPU"
        )
    settings = replace(agent.policy, device="cpu", weights="float32")
    adapter = Path(agent.adapter) if agent.adapter else None
    return open_policy(
        agent.model,
        settings,
        dialect=agent.dialect or None,
        adapter=adapter,
        sees=agent.chosen_sees,
    )
