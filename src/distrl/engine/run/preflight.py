"""Checks before a run starts: judge, model, phones, screens, memory, disk, Weights & Biases.

No episode is played and no device reset. The only cost is one tiny request to a judge whose server
does not list its models. What would stop the run raises a typed error; what may only impair it is
returned as a sentence. `distrl train` and `collect` run the checks before the first episode (not
when a learner that had begun is restarted); `distrl doctor CONFIG` shows every result.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from distrl.agent.families.model_family import InputBuilder, Letterboxes
from distrl.agent.prompt import Prompt
from distrl.agent.torch_device import free_gpu_memory, require_device
from distrl.config.sections import JudgeSettings
from distrl.config.training_config import TrainingConfig
from distrl.engine.device_wiring import Sizes, check_phones
from distrl.engine.ingest.deferred_judging import judge_server
from distrl.engine.run.follower_processes import check_devices
from distrl.engine.task_wiring import task_words
from distrl.engine.wiring import build_inputs
from distrl.errors import ChatServerError, InvalidSetting, JudgeError, UnusableModel, UsageError
from distrl.process_environment import available_memory
from distrl.records import Screen
from distrl.reporting.gpu_estimate import estimate_gpu_memory, gpu_advice, least_gpu_memory
from distrl.reporting.memory_estimate import estimate_disk, estimate_memory, gigabytes
from distrl.runs.wandb_sink import check_wandb

JUDGE_SECONDS, JUDGE_TRIES = 20.0, 3  # deadline and attempts for the list of a judge's models


@dataclass(frozen=True, slots=True)
class Check:
    """One check; `ask` returns a sentence to show (or ""), and raises what would stop the run."""

    what: str
    ask: Callable[[], str]
    environment: str = ""  # that it is about, if the run has several

    def __str__(self) -> str:
        return f"{self.environment}: {self.what}" if self.environment else self.what


CheckPhones = Callable[[TrainingConfig, Path], Sizes]


def preflight(
    config: TrainingConfig,
    folder: Path,
    say: Callable[[str], None],
    ask_phones: CheckPhones = check_phones,
) -> None:
    """Run all `checks`, and pass the sentences that they return to `say`."""
    for check in checks(config, folder, ask_phones):
        if words := check.ask():
            say(f"{check.environment}: {words}" if check.environment else words)


def checks(
    config: TrainingConfig, folder: Path, ask_phones: CheckPhones = check_phones
) -> list[Check]:
    """Return the checks for these settings, the cheapest first; the run will write to `folder`.

    `ask_phones` checks the devices where they are: on this machine, or on the nodes of a cluster.
    """
    asked = [
        Check("system", lambda: check_system(config, sys.platform)),
        Check("disk for the run", lambda: check_disk(config, folder)),
        Check("memory for the run", lambda: check_memory(config, available_memory())),
    ]
    if (device := config.agent.policy.device).startswith("cuda"):
        if config.learning.gpus > 1 and config.engine.kind == "local":
            asked.append(Check("GPUs that learn", lambda: check_devices(config)))
        asked.append(Check("GPU memory", lambda: check_gpu(config, free_gpu_memory(device))))
    if device.startswith("mps"):
        asked.append(Check("GPU", lambda: check_mps(config)))
    if config.reporting.wandb:
        asked.append(Check("Weights & Biases", check_wandb))
    opened: list[InputBuilder] = []
    asked.append(Check("model", lambda: check_model(config, opened)))
    if config.learning.learner.mode == "offline":
        return asked  # no episodes are played
    for each in config.by_environment().values():
        asked += environment_checks(each, folder, opened, ask_phones)
    return asked


def environment_checks(
    config: TrainingConfig,
    folder: Path,
    opened: Sequence[InputBuilder],
    ask_phones: CheckPhones,
) -> list[Check]:
    """Return the checks for one environment of a run."""
    name = config.environment
    asked = [Check("tasks", lambda: task_words(config), name)]
    if config.collection.collectors:  # else all phones are on other machines
        ask = partial(check_phones_here, config, folder, opened, ask_phones)
        asked.append(Check("phones", ask, name))
    if config.judge.later and not config.judge.is_registered:
        asked.append(Check("judge", lambda: check_judge(config.judge), name))
    return asked


def check_model(config: TrainingConfig, opened: list[InputBuilder]) -> str:
    """Raise if the model cannot be opened; append what makes its inputs to `opened`."""
    opened.append(build_inputs(config))
    return ""


def check_phones_here(
    config: TrainingConfig,
    folder: Path,
    opened: Sequence[InputBuilder],
    ask_phones: CheckPhones = check_phones,
) -> str:
    """Raise if a phone is unusable, or if the model cannot take its screen."""
    sizes, words = ask_phones(config, folder), ""
    if config.environment:
        sizes = {f"{phone} of {config.environment}": size for phone, size in sizes.items()}
    for builder in opened:  # empty: the model could not be opened, which was reported
        words = check_screens(config.agent.model, builder, sizes)
    return words


def check_system(config: TrainingConfig, platform: str) -> str:
    """Raise if there are collector processes but no Linux: they need pidfd and pipe signals."""
    if platform.startswith("linux") or config.collection.mode == "one_process":
        return ""
    raise InvalidSetting(
        f"collection.mode={config.collection.mode!r} on {platform}; collectors in processes of "
        "their own need Linux: give collection.mode=one_process here, or train in a Linux container"
    )


def check_disk(config: TrainingConfig, folder: Path) -> str:
    """Warn if the run may want more than is free; `run.free_gigabytes` is the hard minimum."""
    free, wanted = shutil.disk_usage(folder).free, estimate_disk(config)
    if wanted <= free:
        return ""
    return (
        f"the run may write up to {gigabytes(wanted)} and {gigabytes(free)} are free at {folder}; "
        "a full disk stops the learner until there is room: lower store.byte_limit"
    )


def check_joined_disk(folder: Path, wanted: int) -> str:
    """Warn likewise on a joined collector's machine; its `run.free_gigabytes` is the minimum."""
    free = shutil.disk_usage(folder).free
    if wanted <= free:
        return ""
    return (
        f"what waits for the learner here, and its weights, may take up to {gigabytes(wanted)}, "
        f"and {gigabytes(free)} are free at {folder}; a full disk stops the phones until there is "
        "room: make some, or give --spool on another disk"
    )


def check_memory(config: TrainingConfig, available: int) -> str:
    wanted = sum(estimate_memory(config).values())
    if wanted <= available:
        return ""
    return (
        f"the run may use up to {gigabytes(wanted)} of memory and {gigabytes(available)} are "
        "available; `distrl train --dry-run` shows for what: lower replay.byte_limit first"
    )


def check_gpu(config: TrainingConfig, free: int | None) -> str:
    """Raise if there is no such GPU, or if its `free` bytes cannot hold what the learner trains;
    warn if the run wants more than that.
    """
    device, model = config.agent.policy.device, config.agent.model
    if free is None and config.engine.kind == "ray":
        return "torch sees no GPU on this machine; `distrl doctor --cluster` shows the cluster's"
    if free is None:
        raise InvalidSetting(
            f"agent.policy.device={device!r}, and torch sees no GPU here (`distrl doctor` says "
            "why): install a torch that fits the driver, train on a machine that has a GPU, or "
            "keep to the processor: agent.policy.device=cpu, agent.model=starter"
        )
    least, wanted = least_gpu_memory(config), sum(estimate_gpu_memory(config, free).values())
    if least > free:
        raise InvalidSetting(
            f"agent.model={model}: the learner alone needs {gigabytes(least)} on {device} "
            f"(weights, gradients, optimiser), where {gigabytes(free)} are free; "
            f"{gpu_advice(config)}, or give another GPU"
        )
    if wanted > free:
        return (
            f"agent.model={model}: the run wants about {gigabytes(wanted)} on {device}, where "
            f"{gigabytes(free)} are free, and may end for want of memory; {gpu_advice(config)} "
            "(`distrl plan CONFIG` shows for what)"
        )
    return ""


def check_mps(config: TrainingConfig) -> str:
    """Raise if there is no Apple GPU; else warn that we have never run on one."""
    device = config.agent.policy.device
    require_device(device)
    return (
        f"agent.policy.device={device}: we have never run anything on an Apple GPU, and its memory "
        "is not checked; where torch lacks an operation, PYTORCH_ENABLE_MPS_FALLBACK=1 runs it on "
        "the CPU. agent.policy.device=cpu is tested"
    )


def check_judge(settings: JudgeSettings) -> str:
    """Raise `JudgeError` unless each judge's server answers, takes the key and has its model."""
    asked = [(settings.server, settings.model)]
    if settings.second_model:
        asked.append((settings.second_server or settings.server, settings.second_model))
    for url, model in asked:
        usual = judge_server(settings, url)
        from distrl.chat.chat_server import ChatServer, check_model

        deadline = min(usual.deadline_s, JUDGE_SECONDS)
        quick = dataclasses.replace(usual, deadline_s=deadline, tries=min(usual.tries, JUDGE_TRIES))
        try:
            with ChatServer.open(quick) as server:
                check_model(server, model)
        except ChatServerError as error:
            raise JudgeError(
                f"the judge {model} at {url} cannot be asked, so nothing was begun: {error}"
            ) from error
    return ""


def check_screens(model: str, builder: InputBuilder, sizes: Sizes) -> str:
    """Raise `UnusableModel` if the model cannot take the screen of a phone; warn if it sees one
    letterboxed, and so reads less of it.
    """
    words = ""
    for phone, (width, height) in sizes.items():
        blank = Screen(np.zeros((height, width, 3), np.uint8))
        try:
            builder.build([Prompt("", "", (blank,))])
        except UsageError as error:
            raise UnusableModel(
                f"agent.model={model} cannot take the screen of {phone}, which has "
                f"{width} × {height} pixels: {error}"
            ) from error
        box = builder.letterbox(blank) if isinstance(builder, Letterboxes) else None
        if box is not None and not words:
            words = (
                f"agent.model={model} reads {box.picture.width} × {box.picture.height} pixels; the "
                f"screen of {phone}, {width} × {height}, is shown to it at {box.size.width} × "
                f"{box.size.height}, and it reads less of it (docs/starter.md says how much less)"
            )
    return words
