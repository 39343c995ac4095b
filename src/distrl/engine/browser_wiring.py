"""Build what tasks on web pages need: the pages of a collector, their server, and their judges.

    PageServer ─► BrowserPool ─► BrowserDevice ─► MiniwobJudge, MobileGymJudge, WebJudge

We serve MiniWoB's pages and MobileGym's phone. MiniWoB's pages are deterministic, so episodes on
them can be forked. The pages of `tasks.web_file` are served by the user. `device_wiring` calls
this module for `devices.kind='browser'`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from distrl.config.task_settings import TaskSettings
from distrl.config.training_config import TrainingConfig
from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.browser_pool import BrowserPool
from distrl.devices.browser.chromium import find_chromium
from distrl.devices.browser.mobilegym_device import MobileGymDevice
from distrl.devices.browser.replayed_page import ReplayedBrowserDevice
from distrl.errors import InvalidSetting
from distrl.judging.judge import Judge
from distrl.records import Split, Task
from distrl.task_sets.miniwob import MiniwobJudge, find_pages, viewport
from distrl.task_sets.mobilegym import MobileGymJudge, find_mobilegym
from distrl.task_sets.page_server import PageServer
from distrl.task_sets.web_tasks import WebJudge, WebTasks, load_web_tasks


def build_pages(
    config: TrainingConfig, names: tuple[str, ...], opened: ExitStack
) -> list[BrowserDevice]:
    """Build one page for each name; `opened` closes the browsers, then the server."""
    settings = config.devices.browser
    if config.tasks.source == "miniwob":
        server = opened.enter_context(PageServer(find_pages().folder))
        allowed = AllowedOrigins.of([server.url], settings.origins)
        pool = opened.enter_context(BrowserPool(settings, allowed, viewport(settings)))
        return [ReplayedBrowserDevice(name, pool, server.url) for name in names]
    if config.tasks.source == "mobilegym":
        server = opened.enter_context(find_mobilegym(config.tasks.mobilegym_folder).server())
        allowed = AllowedOrigins.of([server.url], settings.origins)
        pool = opened.enter_context(BrowserPool(settings, allowed, on_demand=False))
        return [MobileGymDevice(name, pool, server.url) for name in names]
    allowed = AllowedOrigins.of(_tasks_of(config.tasks).urls, settings.origins)
    pool = opened.enter_context(BrowserPool(settings, allowed))
    return [BrowserDevice(name, pool) for name in names]


def check_pages(config: TrainingConfig) -> dict[str, tuple[int, int]]:
    """Raise if Chromium, MiniWoB's package, a built MobileGym or something in the task file is
    missing; return the size of a page.
    """
    settings = config.devices.browser
    find_chromium()
    page_task_words(config)
    if config.tasks.source == "web":
        AllowedOrigins.of(_tasks_of(config.tasks).urls, settings.origins)
    return {"a page": (settings.width, settings.height)}


def build_page_judges(settings: TaskSettings) -> Callable[[BrowserDevice], Judge]:
    """Return a function that makes the judge of an episode on a page."""
    if settings.source == "mobilegym":
        return partial(_mobilegym_judge, settings.mobilegym_folder)
    if settings.source != "web":
        return MiniwobJudge
    tasks = _tasks_of(settings)
    return lambda device: WebJudge(device, tasks)


def page_task_words(config: TrainingConfig) -> str:
    """Describe the tasks in a sentence; raise if there are none, or if one has no judge."""
    settings = config.tasks
    if settings.source == "miniwob":
        return f"MiniWoB++: {len(find_pages().named(settings.templates))} kinds of pages"
    if settings.source == "mobilegym":
        folder = find_mobilegym(settings.mobilegym_folder)
        found = folder.templates(settings.split, settings.templates)
        folder.load(f"{found[0]}/{settings.split}/0")  # raises if its package is incomplete
        return f"MobileGym: {len(found)} kinds of tasks"
    tasks = web_tasks(settings)
    if config.evaluation.measures:
        _check_evaluated(settings, config.evaluation.split)
    unjudged = _tasks_of(settings).unjudged
    if unjudged and config.judge.kind == "page":
        raise InvalidSetting(
            f"{settings.web_file}: the task {unjudged[0]} does not say when it is done; give it "
            "done, shows or answer, or take judge.kind='vlm'"
        )
    return f"{len(tasks)} tasks of {settings.web_file}"


def _mobilegym_judge(folder: str, device: BrowserDevice) -> Judge:
    assert isinstance(device, MobileGymDevice)  # as `build_pages` makes them
    return MobileGymJudge(device, find_mobilegym(folder))


def web_tasks(settings: TaskSettings) -> list[Task]:
    """Return the wanted tasks of the split in the user's file; raise if there are none."""
    found = [each for each in _tasks_of(settings).tasks if each.split == settings.split]
    wanted = [each for each in found if settings.wants(each.template)]
    if not wanted:
        raise InvalidSetting(
            f"{settings.web_file} has no task of the split {settings.split} with a template like "
            f"{list(settings.templates)}; they are called web.NAME"
        )
    return wanted


def _check_evaluated(settings: TaskSettings, split: Split) -> None:
    """Raise if the file has no task of the split that evaluations play."""
    try:
        web_tasks(replace(settings, split=split))
    except InvalidSetting as error:
        raise InvalidSetting(
            f"{error}; evaluations play the split {split}: add such a task, or give "
            "evaluation.before=0, evaluation.after=0 and no evaluation.every_minutes"
        ) from error


def _tasks_of(settings: TaskSettings) -> WebTasks:
    return load_web_tasks(Path(settings.web_file))
