"""Settings for web pages: what fits, what is refused, and a run on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.task_sets.test_web_tasks import TASK

from distrl.config.training_config import TrainingConfig, load_config
from distrl.devices.browser.chromium import find_chromium
from distrl.engine.browser_wiring import check_pages
from distrl.engine.device_wiring import check_phones
from distrl.engine.task_wiring import task_words
from distrl.errors import InvalidSetting, NotInstalled

MEASURE_NOTHING = ["evaluation.before=0", "evaluation.after=0"]
MINIWOB = ["devices.kind=browser", "tasks.source=miniwob", "judge.kind=page", *MEASURE_NOTHING]


def measured_config(folder: Path, text: str, *more: str) -> TrainingConfig:
    """As evaluations are by default: before and after training."""
    path = folder / "tasks.toml"
    path.write_text(text)
    web = ["devices.kind=browser", "tasks.source=web", f"tasks.web_file={path}", "judge.kind=page"]
    return load_config(None, [*web, *more])


def config_of(folder: Path, text: str, *more: str) -> TrainingConfig:
    return measured_config(folder, text, *MEASURE_NOTHING, *more)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["devices.kind=browser"], "web pages are played in a browser"),
        (["tasks.source=miniwob"], "web pages are played in a browser"),
        ([*MINIWOB, "judge.kind=facts"], "or page, or a judge that you register"),
        (["judge.kind=page"], "only tasks of the source miniwob or mobilegym or web"),
        ([*MINIWOB, "tasks.source=web"], "docs/browser.md shows one"),
        ([*MINIWOB, "tasks.web_file=a.toml"], "docs/browser.md shows one"),
        ([*MINIWOB, "tasks.split=held_out_apps"], "train or test"),
        ([*MINIWOB, "devices.browser.pages=0"], "pages in each browser"),
        ([*MINIWOB, 'devices.browser.origins=["x.org"]'], "no url of a page"),
        ([*MINIWOB, "tasks.curriculum=instruction_value"], "instructions are known by its pages"),
    ],
)
def test_what_does_not_fit_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        load_config(None, words)


def test_success_is_measured_on_a_file_of_tasks_that_has_some_for_it(tmp_path: Path) -> None:
    judged = TASK + 'done = "true"\n'
    with pytest.raises(InvalidSetting, match="evaluations play the split test: add such a task"):
        task_words(measured_config(tmp_path, judged))
    tested = judged + judged.replace('"n"', '"m"') + 'split = "test"\n'
    assert task_words(measured_config(tmp_path, tested)).startswith("1 tasks of ")
    assert task_words(measured_config(tmp_path, judged, "evaluation.split=train"))
    assert task_words(config_of(tmp_path, judged))
    assert task_words(measured_config(tmp_path, judged).unmeasured())  # `distrl collect`
    with pytest.raises(InvalidSetting, match="train or test"):
        measured_config(tmp_path, tested, "evaluation.split=held_out_apps")
    vlm = ("judge.kind=vlm", "judge.server=http://localhost:1/v1", "judge.model=judge")
    with pytest.raises(InvalidSetting, match="web pages that judge themselves"):
        measured_config(tmp_path, tested, *vlm)


def test_without_a_browser_a_run_does_not_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(NotInstalled, match="no Chromium"):
        check_phones(load_config(None, MINIWOB), tmp_path)


def test_a_file_of_tasks_is_checked_before_the_run(tmp_path: Path) -> None:
    try:
        find_chromium()
    except NotInstalled as error:
        pytest.skip(f"left out: {error}")
    judged = TASK + 'done = "true"\n'
    assert check_pages(config_of(tmp_path, judged)) == {"a page": (360, 720)}
    with pytest.raises(InvalidSetting, match="does not say when it is done"):
        check_pages(config_of(tmp_path, TASK))
    with pytest.raises(InvalidSetting, match="no task of the split test"):
        check_pages(config_of(tmp_path, judged, "tasks.split=test"))
    elsewhere = judged.replace("127.0.0.1:80", "example.com")
    with pytest.raises(InvalidSetting, match="is not on this machine"):
        check_pages(config_of(tmp_path, elsewhere))
    check_pages(config_of(tmp_path, elsewhere, 'devices.browser.origins=["http://example.com"]'))
