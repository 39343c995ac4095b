"""A file of tasks on web pages: what is read, refused, and how a page is judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from distrl.devices.browser.allowed_origins import AllowedOrigins
from distrl.devices.browser.browser_device import BrowserDevice
from distrl.devices.browser.browser_pool import BrowserPool
from distrl.devices.browser.browser_settings import BrowserSettings
from distrl.errors import InvalidSetting, NotInstalled, UnknownTask
from distrl.hierarchy import Element
from distrl.records import Tap
from distrl.task_sets.page_server import PageServer
from distrl.task_sets.web_tasks import Shown, WebJudge, load_web_tasks

TASK = '[[task]]\nname = "n"\nurl = "http://127.0.0.1:80/"\ninstruction = "Do it."\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "tasks.toml"
    path.write_text(text)
    return path


def test_a_file_becomes_tasks(tmp_path: Path) -> None:
    second = TASK.replace('"n"', '"m"') + 'split = "test"\nstep_limit = 7\ndone = "x == 1"\n'
    tasks = load_web_tasks(written(tmp_path, TASK + second))
    assert [task.id for task in tasks.tasks] == ["web.n/train/0", "web.m/test/1"]
    assert tasks.tasks[1].step_limit == 7
    assert tasks.unjudged == ("n",)
    assert tasks.urls == ("http://127.0.0.1:80/",)
    assert tasks.find("web.m/test/1").done == "x == 1"
    with pytest.raises(UnknownTask):
        tasks.find("web.m/test/0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task = 1", "Expected `array`"),
        ("task = []", r"has no \[\[task\]\]"),
        ("[[task", "docs/browser.md"),
        (TASK + 'judge = "me"\n', "unknown field `judge`"),
        (TASK + "step_limit = 0\n", ">= 1"),
        ("task = " + "[" * 100_000, "nested too deeply; give a TOML file of tasks"),
        ("task = " + "1" * 5_000, "give a TOML file of tasks"),
        ("# " + "a" * 2_000_000, "more than 1,000,000 bytes"),
        (TASK.replace("http:", "file:"), "no url of a page"),
        (TASK.replace('"n"', '"../n"'), "matching regex"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidSetting, match=said):
        load_web_tasks(written(tmp_path, text))


def test_elements_fit_patterns() -> None:
    box = Element("checkbox", "I agree to it", (0, 0, 9, 9), checked=True)
    assert Shown(role="checkbox", text="I agree*").fits(box)
    assert Shown(checked=True).fits(box)
    assert not Shown(checked=False).fits(box)
    assert not Shown(text="agree").fits(box)


@pytest.fixture
def device(tmp_path: Path) -> Iterator[BrowserDevice]:
    page = (
        "<button style='position:fixed;inset:0 0 50% 0' onclick='n++; h.textContent=n'>+</button>"
    )
    (tmp_path / "count.html").write_text(
        f"<meta name=viewport content='width=device-width'><h1 id=h style='margin-top:500px'>0</h1>"
        f"{page}<script>var n = 0</script>"
    )
    try:
        with PageServer(tmp_path) as server:
            allowed = AllowedOrigins.of([server.url])
            with (
                BrowserPool(BrowserSettings(), allowed) as pool,
                BrowserDevice("page", pool, server.url) as device,
            ):
                yield device
    except NotInstalled as error:
        pytest.skip(f"left out: {error}")


@pytest.mark.browser
@pytest.mark.slow
def test_a_page_is_judged_by_script_elements_and_answer(
    device: BrowserDevice, tmp_path: Path
) -> None:
    start = TASK.replace("http://127.0.0.1:80/", f"{device.site}/count.html")
    text = start.replace('"n"', '"script"') + 'before = "n = 5"\ndone = "n == 6"\n'
    text += start.replace('"n"', '"shown"') + 'shows = [{ role = "heading", text = "1" }]\n'
    text += start.replace('"n"', '"asked"') + 'answer = "*zero*"\n'
    tasks = load_web_tasks(written(tmp_path, text))
    judge = WebJudge(device, tasks)
    for task, answer in zip(tasks.tasks, (None, None, "It is Zero."), strict=True):
        device.reset(0)
        judge.begin(task)
        assert not judge.verdict(None).success
        device.perform(Tap(0.5, 0.1))
        verdict = judge.verdict(answer)
        assert verdict.success, (task.id, verdict)
