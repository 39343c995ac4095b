"""One device of any settings with its tasks and judge, opened for another trainer.

    with OpenedDevice.open("miniwob", {"tasks.templates": ["miniwob.click-test"]}) as opened:

The devices are those of `distrl evaluate --on`: simulated phones, phones over adb, emulators, web
pages, and registered devices. Every call opens a device of its own; phones over adb are leased, so
that two trainers never hold the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from distrl.devices.device import Device
from distrl.episodes.tool_environment import ToolEnvironment
from distrl.errors import NotInstalled
from distrl.judging.judge import Judge
from distrl.records import Split, Task

if TYPE_CHECKING:
    from distrl.config.overrides import Overrides
    from distrl.config.training_config import TrainingConfig

TASKS = 200  # to draw from, unless another number is given

UNMEASURED = ("evaluation.before=0", "evaluation.after=0", "evaluation.every_minutes=none")


@dataclass(frozen=True, slots=True)
class OpenedDevice:
    """A device, what makes the judge of each episode on it, and the tasks to draw from."""

    device: Device
    judge_for: Callable[[Device], Judge]
    tasks: tuple[Task, ...]
    stop_on_success: bool
    _opened: ExitStack

    @classmethod
    def open(
        cls,
        settings: str | Path | None = None,
        overrides: Overrides = (),
        *,
        split: Split | None = None,
        tasks: int = TASKS,
        seed: int = 0,
    ) -> Self:
        """Open one device that settings (a file, or a name) describe, with the first `tasks` of
        the split in the order of `seed`. `split=None`: the split that the settings evaluate on.
        """
        config = _read(settings, overrides)
        from distrl.engine.environment import check_judged, open_environment

        check_judged(config)
        with ExitStack() as opened:
            found = opened.enter_context(open_environment(config, split, 1, seed))
            drawn = tuple({each.id: each for each in islice(found.tasks(), tasks)}.values())
            [device] = found.devices
            return cls(device, found.judge_for, drawn, found.stop_on_success, opened.pop_all())

    def tools(self, *, pictures: bool = False) -> ToolEnvironment:
        """Return the device as an environment of tools; its tasks are chosen by their ids."""
        judge = self.judge_for(self.device)
        return ToolEnvironment(self.device, judge, tasks=self.tasks, pictures=pictures)

    def close(self) -> None:
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read(settings: str | Path | None, overrides: Overrides) -> TrainingConfig:
    """Load the settings. They include those of the learner, and only these need torch."""
    try:
        from distrl.config.config_file import settings_path
        from distrl.config.overrides import override_words
        from distrl.config.training_config import load_config
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"the package {error.name!r} is not installed; devices that settings describe need "
            "pip install 'distrl[learn]'. A device, tasks and a judge of your own need nothing"
        ) from None
    words = [*UNMEASURED, *override_words(overrides)]
    return load_config(settings_path(settings), words)
