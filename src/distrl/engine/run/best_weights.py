"""Keeps the weights with the best success so far, and exports them if success falls later.

Whenever recent success is the best so far (`success_watch`), the weight version that played it, or
the first later one that the store still has, gets a hard link in `best_weights/`. The link costs no
space until the store deletes the version, and then as much as one version. If success has fallen by
the end, the run exports these weights to `best_policy/`, beside `policy/`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from safetensors import SafetensorError

from distrl.agent.policy_weights import export_policy
from distrl.agent.vlm_policy import VlmPolicy
from distrl.errors import CorruptWeights
from distrl.runs.run_directory import RunDirectory
from distrl.weights.weight_file import read_weights
from distrl.weights.weight_store import WeightFile, WeightStore


class Successes(Protocol):
    """Tells how success develops: an `EpisodeLog`."""

    @property
    def has_fallen(self) -> bool: ...

    @property
    def unkept_best(self) -> int | None: ...

    def best_kept(self, version: int) -> None: ...


class BestWeights:
    """The best weights of one run. If the disk fails, they are lost, but the run goes on."""

    def __init__(
        self,
        run: RunDirectory,
        weights: WeightStore,
        successes: Successes,
        say: Callable[[str], None],
    ) -> None:
        self._run = run
        self._weights = weights
        self._successes = successes
        self._say = say
        self._failed = False

    def keep_if_best(self) -> None:
        """Keep new best weights. The learner's thread calls it after every step, so it retries."""
        version = self._successes.unkept_best
        if version is None or (nearest := self._nearest(version)) is None:
            return
        try:
            self._keep(nearest)
        except OSError as error:
            if not self._failed:
                self._say(
                    "the best weights so far could not be kept yet, the run goes on and tries "
                    f"again: {error}"
                )
            self._failed = True
        else:
            self._successes.best_kept(version)

    def _nearest(self, version: int) -> WeightFile | None:
        """Return the oldest file of that version or a later one, preferably one that is kept
        already; None before the first was published.
        """
        files = [*WeightStore.files_in(self._run.best_weights), *self._weights.files()]
        later = (each for each in files if each.version >= version)
        return min(later, key=lambda each: each.version, default=None)

    def _keep(self, file: WeightFile) -> None:
        folder = self._run.best_weights
        folder.mkdir(exist_ok=True)
        kept, draft = folder / file.path.name, folder / ".draft"
        if file.path != kept:
            draft.unlink(missing_ok=True)
            try:
                draft.hardlink_to(file.path)
            except FileNotFoundError:
                raise
            except OSError:  # a file system without hard links
                shutil.copyfile(file.path, draft)
            draft.replace(kept)
        for other in folder.iterdir():
            if other != kept:
                other.unlink(missing_ok=True)

    def export_if_fallen(self, policy: VlmPolicy) -> None:
        """If success has fallen, at the end, load the best weights into `policy` and export it."""
        if not self._successes.has_fallen:
            return
        found = WeightStore.files_in(self._run.best_weights)
        if not found:
            self._say(
                f"success fell during the run, and {self._run.best_weights} has no weights of the "
                f"time when it was best: {self._run.policy} has the last ones alone"
            )
        for kept in found:
            try:
                policy.load_weights(read_weights(kept.path, kept.digest, "pt"), kept.version)
                self._export(policy, kept.version)
            except (OSError, SafetensorError, CorruptWeights) as error:
                self._say(f"the best weights could not be exported: {error}")
            else:
                self._say(
                    f"success fell during the run: {self._run.policy} has the last weights, "
                    f"{self._run.best_policy} those of version {kept.version}, kept at its best"
                )

    def _export(self, policy: VlmPolicy, version: int) -> None:
        fresh: Path = self._run.path / ".best-new"
        for each in (fresh, self._run.best_policy):
            shutil.rmtree(each, ignore_errors=True)
        export_policy(policy, fresh, version)
        fresh.rename(self._run.best_policy)
