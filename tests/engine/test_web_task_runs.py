"""A page of one's own, served and described in a file of tasks: played, measured, learned from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from rich.console import Console
from tests.chat.chat_protocol import serving
from tests.engine.tiny_runs import tiny_config
from tests.judging.judge_server import NO, YES

from distrl.cli.train import new_directory
from distrl.config.training_config import load_config
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.chromium import find_chromium
from distrl.devices.device import Device
from distrl.engine.environment import play_environment
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.preflight import checks
from distrl.engine.run.resume import corpus
from distrl.episodes.evaluation import SIMPLE_AGENTS
from distrl.errors import NotInstalled
from distrl.json_lines import read_lines
from distrl.judging.judge import Judge
from distrl.records import Decision, Ending, Observation, Tap, Task
from distrl.runs.run_records import EpisodeLine, EvaluationLine
from distrl.task_sets.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]
QUIET = Console(quiet=True)
PAGE = """<meta name=viewport content='width=device-width'><h1 id=h>0 shoes</h1>
<button onclick='shoes++; h.textContent = shoes + " shoes"'>Put into the basket</button>
<script>var shoes = 0</script>"""


@pytest.fixture
def words(tmp_path: Path) -> Iterator[list[str]]:
    """Settings with a file of tasks for a page that is served: one to train on, one to test."""
    try:
        find_chromium()
    except NotInstalled as error:
        pytest.skip(f"left out: {error}")
    (tmp_path / "index.html").write_text(PAGE)
    with PageServer(tmp_path) as server:
        tasks = (
            f'[[task]]\nname = "{name}"\nsplit = "{split}"\nurl = "{server.url}/"\nstep_limit = 3\n'
            f'instruction = "Put shoes into the basket."\ndone = "shoes == 1"\n'
            for name, split in (("basket.add", "train"), ("basket.more", "test"))
        )
        file = tmp_path / "tasks.toml"
        file.write_text("".join(tasks))
        yield [
            "devices.kind=browser", "devices.count=1", "tasks.source=web", "judge.kind=page",
            f"tasks.web_file={file}", "tasks.templates=[]", "collection.mode=one_process",
        ]  # fmt: skip


class Finder:
    """Taps the button of the page; knows its device."""

    def __init__(self, task: Task, device: Device, judge: Judge) -> None:
        assert isinstance(device, BrowserDevice)
        self._device = device

    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        [button] = [each for each in self._device.elements() if each.role == "button"]
        x, y = button.centre
        return [Decision(Tap(x / 360, y / 720))]


def test_test_tasks_of_a_file_are_played_and_judged(words: list[str]) -> None:
    config = load_config(None, [*words, "collection.stop_on_success=true"])
    played = list(play_environment(config, Finder, 2, 0, config.evaluation.split))
    assert [each.ending for each in played] == [Ending.SUCCESS] * 2
    assert {each.task.template for each in played} == {"web.basket.more"}
    [lazy] = play_environment(config, SIMPLE_AGENTS["done"], 1, 0, config.evaluation.split)
    assert lazy.ending is Ending.FAILURE


def test_a_run_on_a_file_measures_before_and_after(
    words: list[str], tmp_path: Path, model: Path
) -> None:
    config = tiny_config(tmp_path, model, *words, "run.updates=1")
    run = new_directory(config)
    LocalEngine(config, run, QUIET).train()
    stages = {each.stage: each for each in read_lines(run.evaluations, EvaluationLine)}
    assert set(stages) == {"before", "after"}
    assert {t.template for each in stages.values() for t in each.templates} == {"web.basket.more"}
    assert {e.template for e in read_lines(run.episodes, EpisodeLine)} == {"web.basket.add"}
    assert json.loads(run.result.read_text())["success_after"]["episodes"] == 1


def test_a_vision_language_judge_judges_a_page(
    words: list[str], tmp_path: Path, model: Path
) -> None:
    """It overrules what the page says of itself, and is asked what the page cannot be."""
    with serving(NO, YES) as (url, log):
        vlm = ("judge.kind=vlm", f"judge.server={url}", "judge.model=judge", "judge.at_once=1")
        untested = ("evaluation.before=0", "evaluation.after=0", "run.updates=1")
        config = tiny_config(tmp_path, model, *words, *vlm, *untested)
        asked = [str(each) for each in checks(config, tmp_path) if each.ask() or True]
        assert {"tasks", "phones", "judge"} <= set(asked)
        run = new_directory(config)
        LocalEngine(config, run, QUIET).train()
    played = list(corpus(str(run.path)))
    assert {each.verdict.judge.split("/")[0] for each in played if each.verdict} == {"vlm"}
    assert sum(each.ending is Ending.SUCCESS for each in played) >= 1
    question = json.dumps(log.completions[0]["messages"])
    assert "Put shoes into the basket." in question
    assert "data:image/" in question
