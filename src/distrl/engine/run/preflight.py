"""Looks at the world that a run is to be in, before anything is spent: its tasks and its phones."""

from __future__ import annotations

from collections.abc import Callable

from distrl.config.training_config import TrainingConfig
from distrl.engine.device_wiring import check_phones
from distrl.engine.task_wiring import task_words


def check_world(config: TrainingConfig, say: Callable[[str], None]) -> None:
    """Raises what would stop every collector, and says what is worth knowing about the tasks."""
    if config.learning.learner.mode == "offline":
        return  # nobody plays
    if words := task_words(config):
        say(words)
    check_phones(config)
