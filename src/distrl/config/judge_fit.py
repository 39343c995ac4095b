"""Do tasks, phones and judge go together? What cannot work is refused when settings are read.

Simulated tasks are put on a phone as facts, so they need a simulated phone, whoever judges them.
Instructions of Android in the Wild go to any phone, but nobody can judge them by facts. Tasks of
AndroidWorld need its own phones. Whatever is not simulated cannot be evaluated in the learner's
process: the test phones there are simulated ones.
"""

from __future__ import annotations

from distrl.config.judge_section import JudgeSettings
from distrl.config.sections import (
    CollectionSettings,
    DeviceKind,
    DeviceSettings,
    EvaluationSettings,
)
from distrl.config.task_section import TaskSettings, TaskSourceName
from distrl.errors import InvalidSetting


def check_judge_fit(
    tasks: TaskSettings,
    devices: DeviceSettings,
    judge: JudgeSettings,
    collection: CollectionSettings,
    evaluation: EvaluationSettings,
) -> None:
    _check_phones(tasks, devices)
    _check_judge(tasks, judge)
    if judge.later:
        _check_later(tasks, collection)
    if tasks.source != "simulated":
        _check_evaluation(tasks, evaluation)


# Which tasks each kind of device can be given.
TASK_SOURCES: dict[DeviceKind, tuple[TaskSourceName, ...]] = {
    "simulated": ("simulated", "aitw"),
    "adb": ("simulated", "aitw"),
    "emulator": ("aitw",),
    "android_world": ("android_world",),
}


def _check_phones(tasks: TaskSettings, devices: DeviceSettings) -> None:
    source, kind = tasks.source, devices.kind
    fits = source in TASK_SOURCES[kind]
    if not fits and source == "simulated":
        raise InvalidSetting(
            f"devices.kind={kind!r} with tasks.source='simulated'; those tasks are facts on a "
            "simulated phone: give tasks.source='aitw', or devices.kind='simulated'"
        )
    if not fits:
        raise InvalidSetting(
            f"tasks.source={source!r} with devices.kind={kind!r}; AndroidWorld's tasks are played "
            "on its own phones: give android_world for both, or for neither"
        )
    places = len(tasks.android_world.urls)
    if kind == "android_world" and places < devices.count + devices.spares:
        raise InvalidSetting(
            f"tasks.android_world.urls names {places} containers for devices.count="
            f"{devices.count} and devices.spares={devices.spares}; each is one phone"
        )


def _check_judge(tasks: TaskSettings, judge: JudgeSettings) -> None:
    needs = {"facts": "simulated", "android_world": "android_world"}.get(judge.kind)
    if needs is not None and tasks.source != needs:
        raise InvalidSetting(
            f"judge.kind={judge.kind!r} with tasks.source={tasks.source!r}; only tasks of the "
            f"source {needs} can be judged by that: give judge.kind='vlm' with judge.server and "
            "judge.model" + (", or android_world" if tasks.source == "android_world" else "")
        )


def _check_later(tasks: TaskSettings, collection: CollectionSettings) -> None:
    """What would want a verdict while the episode is played, or right after it."""
    if collection.stop_on_success:
        raise InvalidSetting(
            "collection.stop_on_success=True with judge.kind='vlm'; its verdicts come after the "
            "episode: leave it out"
        )
    if tasks.curriculum == "success_rate":
        raise InvalidSetting(
            "tasks.curriculum='success_rate' with judge.kind='vlm'; collectors hear no verdicts "
            "that come later: give uniform or instruction_value"
        )


def _check_evaluation(tasks: TaskSettings, evaluation: EvaluationSettings) -> None:
    if evaluation.before or evaluation.after or evaluation.every_minutes is not None:
        raise InvalidSetting(
            f"evaluation.before={evaluation.before}, evaluation.after={evaluation.after} and "
            f"evaluation.every_minutes={evaluation.every_minutes} with tasks.source="
            f"{tasks.source!r}; test phones are simulated ones: give 0, 0 and none, and measure "
            "with `distrl collect --set tasks.split=test`"
        )
