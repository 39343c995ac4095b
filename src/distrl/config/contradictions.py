"""Refuse settings that contradict each other.

Every new `TrainingConfig` calls `check_settings`, or `check_environments` if it has environments.
Ranges and choices of single settings are declared beside them (`distrl.bounds`); here are the
checks that involve several settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from distrl.config.environments import NAME
from distrl.config.task_settings import TaskSourceName
from distrl.errors import InvalidSetting
from distrl.plugin_shape import BUILT_IN

if TYPE_CHECKING:
    from distrl.config.training_config import TrainingConfig

# The task sources that each kind of device supports. Simulated tasks need the facts of a simulated
# phone; instructions of Android in the Wild and registered tasks work on any phone; AndroidWorld's
# tasks need its own phones; tasks on web pages need a browser.
TASK_SOURCES: dict[str, tuple[TaskSourceName, ...]] = {
    "simulated": ("simulated", "aitw", "registered"),
    "adb": ("simulated", "aitw", "registered"),
    "emulator": ("aitw", "registered"),
    "android_world": ("android_world",),
    "browser": ("miniwob", "mobilegym", "web"),
}
JUDGED_SOURCES: dict[str, tuple[TaskSourceName, ...]] = {  # judge kind -> sources that it can judge
    "facts": ("simulated",),
    "android_world": ("android_world",),
    "page": ("miniwob", "mobilegym", "web"),
}
MAX_COLLECTORS = 1024  # joined collectors are numbered from here on
OWN_DEVICE_SOURCES: tuple[TaskSourceName, ...] = ("simulated", "aitw", "registered")


def check_environments(config: TrainingConfig) -> None:
    """Check each environment as if it were a run of its own, and then all of them together."""
    for name in config.environments:
        if not re.fullmatch(NAME, name):
            raise InvalidSetting(
                f"environments.{name}: {name!r} is no name of an environment; give a lower-case "
                "letter, and up to 30 of them, digits and underscores"
            )
        try:
            config.in_environment(name)
        except InvalidSetting as error:
            raise InvalidSetting(f"environments.{name}: {error}") from error
    if config.collector_count > MAX_COLLECTORS:
        raise InvalidSetting(
            f"environments have {config.collector_count} collectors together; give "
            f"{MAX_COLLECTORS} at most"
        )
    every = list(config.by_environment().values())
    _check_shared_phones(every, "adb", "devices.serials", lambda each: each.devices.serials)
    _check_shared_phones(
        every,
        "android_world",
        "tasks.android_world.urls",
        lambda each: each.tasks.android_world.urls,
    )
    if len({each.devices.is_dry for each in every}) > 1:
        raise InvalidSetting(
            "devices.android.safety.dry_run=true in some environments and not in others; nothing "
            "is learned in a dry run: give it to all, or leave those environments out"
        )


def _check_shared_phones(
    environments: Sequence[TrainingConfig],
    kind: str,
    setting: str,
    named: Callable[[TrainingConfig], Sequence[str]],
) -> None:
    """Refuse a phone in two environments, which would reset it during each other's episodes."""
    users = [each for each in environments if each.devices.kind == kind]
    phones = [phone for each in users for phone in named(each)]
    unnamed = [each.environment for each in users if not named(each)]
    if len(users) > 1 and (unnamed or len(set(phones)) < len(phones)):
        names = ", ".join(each.environment for each in users)
        raise InvalidSetting(
            f"the environments {names} all have devices.kind={kind!r}; say in {setting} of each "
            "which phones it has, and name every phone once"
        )


def check_settings(config: TrainingConfig) -> None:
    """Raise `InvalidSetting` for the first contradiction."""
    _check_devices(config)
    _check_judge(config)
    _check_evaluation(config)
    _check_pace(config)
    _check_learner(config)
    _check_engine(config)
    _check_server(config)


def _check_devices(config: TrainingConfig) -> None:
    source, kind, count = config.tasks.source, config.devices.kind, config.devices.count
    if config.collection.collectors > count:
        raise InvalidSetting(
            f"collection.collectors={config.collection.collectors} for devices.count={count}; "
            "some would have no device: give at most that many"
        )
    fits = source in TASK_SOURCES.get(kind, OWN_DEVICE_SOURCES)
    if not fits and (kind == "browser" or source in TASK_SOURCES["browser"]):
        raise InvalidSetting(
            f"devices.kind={kind!r} with tasks.source={source!r}; web pages are played in a "
            f"browser: give devices.kind='browser' with {' or '.join(TASK_SOURCES['browser'])}"
        )
    if source in ("miniwob", "mobilegym") and config.tasks.curriculum == "instruction_value":
        raise InvalidSetting(
            f"tasks.curriculum='instruction_value' with tasks.source={source!r}; its "
            "instructions are known by its pages alone: give uniform or success_rate"
        )
    if not fits and source == "simulated":
        raise InvalidSetting(
            f"devices.kind={kind!r} with tasks.source='simulated'; those tasks are facts on a "
            "simulated phone: give tasks.source='aitw', or devices.kind='simulated'"
        )
    if not fits:
        raise InvalidSetting(
            f"tasks.source={source!r} with devices.kind={kind!r}; AndroidWorld's tasks are "
            "played on its own phones: give android_world for both, or for neither"
        )
    places = len(config.tasks.android_world.urls)
    if kind == "android_world" and places < count + config.devices.spares:
        raise InvalidSetting(
            f"tasks.android_world.urls names {places} containers for devices.count={count} and "
            f"devices.spares={config.devices.spares}; each is one phone"
        )


def _check_judge(config: TrainingConfig) -> None:
    """Check that the judge knows the tasks, and that nothing needs a verdict before it comes."""
    kind, source = config.judge.kind, config.tasks.source
    needs = JUDGED_SOURCES.get(kind)
    if needs is not None and source not in needs:
        own = [name for name, sources in JUDGED_SOURCES.items() if source in sources]
        raise InvalidSetting(
            f"judge.kind={kind!r} with tasks.source={source!r}; only tasks of the "
            f"source {' or '.join(needs)} can be judged by that: give judge.kind='vlm' with "
            "judge.server and judge.model"
            + (f", or {own[0]}" if own else "")
            + ", or a judge that you register"
        )
    if config.judge.later and config.collection.stop_on_success:
        raise InvalidSetting(
            f"collection.stop_on_success=True with judge.kind={config.judge.kind!r}; its "
            "verdicts come after the episode: leave it out"
        )
    if config.judge.later and config.tasks.curriculum == "success_rate":
        raise InvalidSetting(
            f"tasks.curriculum='success_rate' with judge.kind={config.judge.kind!r}; collectors "
            "hear no verdicts that come later: give uniform or instruction_value"
        )


def _check_evaluation(config: TrainingConfig) -> None:
    """Check that tasks can be evaluated: on simulated phones, or on web pages in a browser here."""
    given, source = config.evaluation, config.tasks.source
    measures = given.measures
    if source in TASK_SOURCES["browser"] and not config.judge.later:
        if measures and given.split not in ("train", "test"):
            raise InvalidSetting(f"evaluation.split={given.split!r} on pages; train or test")
    elif source != "simulated" and measures:
        where = config.environment
        nothing = f"environments.{where}.measured=false" if where else "0, 0 and none"
        raise InvalidSetting(
            f"evaluation.before={given.before}, evaluation.after={given.after} and "
            f"evaluation.every_minutes={given.every_minutes} with tasks.source={source!r}; "
            "evaluations are played on simulated phones, and on web pages that judge themselves "
            f"(judge.kind='page'): give {nothing}, and measure with `distrl collect --set "
            "tasks.split=test`"
        )


def _check_pace(config: TrainingConfig) -> None:
    """Check that pacing cannot deadlock with this batch size, and that the replay can be filled."""
    batch = config.learning.learner.batch_trajectories
    try:
        config.pacing.new(batch).may_sample(batch)
    except InvalidSetting as error:
        raise InvalidSetting(
            f"pacing.{error} (learning.learner.batch_trajectories={batch})"
        ) from error
    if config.pacing.minimum_fill > config.replay.capacity:
        raise InvalidSetting(
            f"pacing.minimum_fill={config.pacing.minimum_fill} is more than replay.capacity="
            f"{config.replay.capacity}: the replay would never be full enough to begin"
        )


def _check_learner(config: TrainingConfig) -> None:
    learner = config.learning.learner
    if learner.mode != "online" and not config.learning.corpus:
        raise InvalidSetting(
            f"learning.learner.mode={learner.mode!r} without learning.corpus; name the "
            "directory of trajectories to learn from"
        )
    weight, penalty = config.learning.a_ride.invalid_weight, learner.rewards.invalid_penalty
    if config.learning.algorithm == "a_ride" and weight and penalty:
        raise InvalidSetting(
            f"learning.a_ride.invalid_weight={weight} with learning.learner.rewards."
            f"invalid_penalty={penalty}; an answer that cannot be read would be paid for "
            "twice: give 0 for one of them"
        )
    estimates = set(BUILT_IN["algorithm"]) - {"a_ride", "vtrace"}
    if learner.matched_screens and config.learning.algorithm in estimates:
        raise InvalidSetting(
            f"learning.learner.matched_screens with learning.algorithm="
            f"{config.learning.algorithm!r}, which would not read them: give a_ride or vtrace"
        )
    measured, rewards = config.collection.forks or learner.matched_screens, learner.rewards
    if measured and (rewards.kind, rewards.success) != ("terms", 1.0):
        raise InvalidSetting(
            f"learning.learner.rewards.kind={rewards.kind!r}, success={rewards.success} with forks "
            "or matched screens, which measure advantages by a success of 1: give kind='terms' and "
            "success=1, or collection.forks=0 and learning.learner.matched_screens=false"
        )


def _check_engine(config: TrainingConfig) -> None:
    listen, mode = config.engine.join.listen, config.collection.mode
    if listen and mode != "asynchronous":
        raise InvalidSetting(
            f"engine.join.listen={listen!r} with collection.mode={mode!r}; collectors of other "
            "machines never wait for each other: give asynchronous, or do not listen"
        )
    if not config.collection.collectors and not listen:
        raise InvalidSetting(
            "collection.collectors=0 without engine.join.listen; nobody would play: give 1 or "
            "more, or the HOST:PORT where collectors of other machines join"
        )
    if config.engine.kind == "ray" and config.collection.mode != "asynchronous":
        raise InvalidSetting(
            f"collection.mode={config.collection.mode!r} with engine.kind='ray'; collectors on a "
            "cluster never wait for each other: give asynchronous, or the engine local"
        )
    if config.engine.policy == "node" and config.tasks.curriculum == "instruction_value":
        raise InvalidSetting(
            "tasks.curriculum='instruction_value' with engine.policy='node'; collectors have "
            "no critic of their own then: give uniform or success_rate, or the policy collector"
        )


def _check_server(config: TrainingConfig) -> None:
    if not config.agent.server:
        return
    if config.agent.policy.lora is None or config.agent.adapter:
        raise InvalidSetting(
            "agent.server takes new weights as adapters alone, onto the model that it serves: "
            "give agent.policy.lora.rank=16, and leave agent.adapter empty"
        )
    if config.engine.policy == "node" or config.tasks.curriculum == "instruction_value":
        raise InvalidSetting(
            f"agent.server with engine.policy={config.engine.policy!r} and tasks.curriculum="
            f"{config.tasks.curriculum!r}; collectors have no model of their own then: give "
            "engine.policy='collector', and uniform or success_rate"
        )
