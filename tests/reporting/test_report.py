"""The page: whole, self-contained, harmless, and made from whatever a run has left."""

from __future__ import annotations

import re
import shutil
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from distrl.json_lines import LineLog
from distrl.records import Ending
from distrl.reporting.report import report_page, write_report
from distrl.reporting.run_story import read_story
from distrl.runs.checked_json import to_checked_json
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import note_progress
from distrl.runs.run_records import (
    DeviceFault,
    EpisodeLine,
    EvaluationLine,
    RecordedStep,
    Recording,
    Stage,
    TemplateCount,
)

VOID = {"meta", "img"}


class Outline(HTMLParser):
    """Every tag with its attributes; complains about one that is not closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"

    def close(self) -> None:
        super().close()
        assert not self._open


def outline(page: str) -> Outline:
    read = Outline()
    read.feed(page)
    read.close()
    return read


@pytest.fixture(scope="module")
def page(example_run: RunDirectory) -> str:
    return write_report(example_run).read_text("utf-8")


def test_every_part_is_there(page: str) -> None:
    read = outline(page)
    for title in (
        "Learning curve",
        "Before and after, task by task",
        "Devices",
        "Lag",
        "staleness drawn",
        "How episodes ended",
        "The learner",
        "Episodes",
        "Every setting of this run",
    ):
        assert title in read.text
    assert 'algorithm = "a_ride"' in read.text


def test_it_loads_nothing_and_runs_nothing(page: str) -> None:
    read = outline(page)
    names = {name for name, _ in read.tags}
    assert not names & {"script", "link", "iframe", "object", "embed", "form"}
    for _, attributes in read.tags:
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in ("src", "href"):
                assert value is not None
                assert value.startswith("data:image/webp;base64,")
            if name == "xlink:href":  # a marker of the same drawing, or its pixels
                assert value is not None
                assert value.startswith(("#", "data:image/png;base64,"))
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page
    policy = [a["content"] for n, a in read.tags if a.get("http-equiv")]
    assert policy == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]


def test_every_drawing_is_sound_and_takes_the_colours_of_the_page(page: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) > 15
    for drawing in drawings:
        assert not re.search(r"[^a-z](nan|inf)[^a-z]", drawing)
        ET.fromstring(drawing)
    assert "#0a000" not in page
    assert "var(--first)" in page


def test_the_figures_are_those_of_the_run(example_run: RunDirectory, page: str) -> None:
    story, text = read_story(example_run), outline(page).text
    before, after = story.evaluation("before"), story.evaluation("after")
    assert before is not None
    assert after is not None
    assert f"{before.rate.rate:.0%}" in text
    assert f"{after.rate.rate:.0%}" in text
    for count in after.templates:
        assert count.template in text
        assert f"{count.successes}/{count.episodes}" in text
    for recording in story.recordings:
        assert recording.instruction in text
    pictures = [a for n, a in outline(page).tags if n == "img"]
    assert len(pictures) == sum(len(recording.steps) for recording in story.recordings)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.new(tmp_path, "train", datetime(2026, 1, 5))


def test_a_run_that_has_left_nothing_yet_has_a_page_that_says_so(run: RunDirectory) -> None:
    text = outline(report_page(read_story(run))).text
    assert "No comparison yet" in text
    assert "No episodes so far." in text
    assert "No updates so far." in text


def test_an_evaluation_without_episodes_is_none(run: RunDirectory) -> None:
    with LineLog.open(run.evaluations) as log:
        log.append(EvaluationLine("before", "test", 0, 0, 0.0, (TemplateCount("a", 1, 2),)))
        log.append(EvaluationLine("after", "test", 9, 2, 9.0, ()))
    text = outline(report_page(read_story(run))).text
    assert "No comparison yet" in text
    assert "nan" not in text


LARGE_PAGES = ("evaluations", "recordings", "config")  # whose charts take seconds to draw


@pytest.mark.parametrize(
    "lost",
    ["metrics", "episodes", *(pytest.param(each, marks=pytest.mark.slow) for each in LARGE_PAGES)],
)
def test_a_run_without_one_of_its_files_has_a_page_without_that_part(
    example_run: RunDirectory, tmp_path: Path, lost: str
) -> None:
    shutil.copytree(example_run.path, tmp_path / "run")
    damaged = RunDirectory(tmp_path / "run")
    getattr(damaged, lost).unlink()
    outline(report_page(read_story(damaged)))


def test_a_lost_picture_is_a_gap_and_no_error(example_run: RunDirectory, tmp_path: Path) -> None:
    shutil.copytree(example_run.path, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "pictures")
    assert "this picture is gone" in report_page(read_story(RunDirectory(tmp_path / "run")))


def test_a_picture_that_is_not_what_it_is_named_after_is_a_gap(
    example_run: RunDirectory, tmp_path: Path
) -> None:
    shutil.copytree(example_run.path, tmp_path / "run")
    picture = next((tmp_path / "run" / "pictures").iterdir())
    picture.write_bytes(picture.read_bytes()[:-1] + b"x")
    assert "gone or damaged" in report_page(read_story(RunDirectory(tmp_path / "run")))


DAMAGES = {
    "emptied": b"",
    "another": b"seed = 0",
    "no text": b"\xff = [",
    "cut within [run], before its seed": b"[run]\nname = 'a'\n",
    "no section": b"agent = 3\nlearning = 3\ndevices = 3\nrun = 3\n",
    "no count of a kind": b"[devices]\ncount = 3\n",
    "deep": b"a = " + b"[" * 100_000,
    "a deep key": b"a" + b".a" * 5_000 + b" = 1",
    "digits": b"[run]\nseed = " + b"1" * 5_000,
    "huge": b"# " + b"a" * 2_000_000,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_settings_that_are_damaged_are_among_the_losses(run: RunDirectory, damage: bytes) -> None:
    run.config.write_bytes(b"# crc32 of the lines below: 00000000\n" + damage if damage else b"")
    assert [loss.name for loss in read_story(run).losses] == ["config.toml"]
    assert "Lost on the way" in report_page(read_story(run))


def test_a_run_without_a_result_says_so(example_run: RunDirectory, tmp_path: Path) -> None:
    shutil.copytree(example_run.path, tmp_path / "run")
    run = RunDirectory(tmp_path / "run")
    run.result.unlink(missing_ok=True)
    assert "There is no result.json here" in report_page(read_story(run))
    run.result.write_text("{}")
    assert "There is no result.json here" not in report_page(read_story(run))


def test_a_card_that_is_damaged_or_gone_is_among_the_losses(run: RunDirectory) -> None:
    run.config.write_text("[run]\nseed = 0\n")
    run.card.write_text('{\n  "plugins": 3\n}\n')
    note_progress(run, None, 0)
    assert read_story(run).losses == []  # of an earlier version
    assert report_page(read_story(run))
    run.card.write_text('{"plugins"')
    assert [loss.name for loss in read_story(run).losses] == ["card.json"]
    run.card.unlink()
    assert [loss.reason for loss in read_story(run).losses] == ["is gone"]


def test_a_result_that_is_damaged_is_among_the_losses(run: RunDirectory) -> None:
    run.config.write_text("[run]\nseed = 0\n")
    whole = to_checked_json({"updates": 3})
    run.result.write_text(whole)
    assert read_story(run).losses == []
    run.result.write_text(whole.replace("3", "4", 1))
    assert [loss.name for loss in read_story(run).losses] == ["result.json"]
    assert "Lost on the way" in report_page(read_story(run))


def test_whatever_a_task_says_is_text_and_nothing_else(run: RunDirectory) -> None:
    evil = "</p><script>alert('&')</script>"
    run.config.write_text(f"# {evil}\n[run]\nseed = 0\n")
    recording = Recording(
        "1", "after", evil, evil, Ending.FAILURE, evil, 0, 0, (RecordedStep("x.webp", evil),)
    )
    episode = EpisodeLine("1", evil, evil, Ending.SUCCESS, 1, 0, 0, evil, 0.0, 5.0)
    with LineLog.open(run.recordings) as recordings, LineLog.open(run.episodes) as episodes:
        recordings.append(recording)
        episodes.append(episode)
    with LineLog.open(run.evaluations) as log:
        for stage in ("before", "after"):
            counts = (TemplateCount(evil, 1, 2),)
            log.append(EvaluationLine(stage, evil, 0, 0, 0.0, counts))
    page = report_page(read_story(run))
    assert "script" not in {name for name, _ in outline(page).tags}
    assert page.count("&lt;script&gt;") >= 6


def test_half_a_letter_of_a_task_or_an_action_costs_no_report(run: RunDirectory) -> None:
    step = RecordedStep("0.webp", "type \udc00", 0.5, 1.0, None)
    with LineLog.open(run.recordings) as log:
        log.append(
            Recording("c/1", "after", "a", "Write \ud800", Ending.FAILURE, "no", 3, 2, (step,))
        )
    assert "Write ?" in write_report(run).read_text("utf-8")


def test_the_probability_of_each_answer_is_shown(run: RunDirectory) -> None:
    step = RecordedStep("x.webp", "tap", 0.5, 1.0, 0.1, probability=0.25)
    with LineLog.open(run.recordings) as recordings:
        recordings.append(
            Recording("1", "after", "t", "do it", Ending.FAILURE, "", 0, 0, (step, step))
        )
    assert report_page(read_story(run)).count("<i>p</i>0.25") == 2


def test_the_table_has_the_whole_first_and_then_the_largest_gains(run: RunDirectory) -> None:
    counts = {
        "before": (TemplateCount("a", 1, 4), TemplateCount("b", 0, 4)),
        "after": (TemplateCount("a", 0, 4), TemplateCount("b", 3, 4), TemplateCount("c", 1, 1)),
    }
    with LineLog.open(run.evaluations) as log:
        log.append(EvaluationLine("before", "test", 0, 0, 0.0, counts["before"]))
        log.append(EvaluationLine("after", "test", 9, 2, 9.0, counts["after"]))
    page = report_page(read_story(run))
    names = re.findall(r'<th scope="row">(.*?)</th>', page)
    assert names == ["all of them", "b", "c", "a"]
    assert re.findall(r'number ?\w*">([+−]\d+)<', page) == ["+32", "+75", "+0", "−25"]


def test_many_templates_are_folded_away(run: RunDirectory) -> None:
    counts = tuple(TemplateCount(f"template.{n:03}", n % 3, 3) for n in range(80))
    with LineLog.open(run.evaluations) as log:
        for stage in ("before", "after"):
            log.append(EvaluationLine(stage, "test", 0, 0, 0.0, counts))
    text = outline(report_page(read_story(run))).text
    assert "55 more" in text
    assert all(count.template in text for count in counts)


def test_the_story_counts_as_one_would_by_hand(run: RunDirectory) -> None:
    """In spans of ten seconds: two failures, a success and a lost device, a success."""
    endings = (
        (5.0, Ending.FAILURE, 0),
        (9.0, Ending.FAILURE, 1),
        (15.0, Ending.SUCCESS, 1),
        (18.0, Ending.DEVICE_LOST, 3),
        (30.0, Ending.SUCCESS, 40),
    )
    with LineLog.open(run.episodes) as log:
        for ended, ending, late in reversed(endings):
            log.append(
                EpisodeLine(f"{ended}", "t", "t", ending, 1, 0, late, "phone", ended - 4.0, ended)
            )
    story = read_story(run)
    assert story.seconds == 30.0
    first, second, third = story.endings(3)
    assert first == {"failure": 2}
    assert second == {"success": 1, "device_lost": 1}
    assert third == {"success": 1}
    assert list(story.lags().items())[:4] == [("0", 1), ("1", 2), ("2", 0), ("3", 1)]
    assert story.lags()["12+"] == 1
    assert story.success_curve() == []  # fewer than a window


def test_a_dry_run_is_in_the_heading_as_far_as_it_was_one(run: RunDirectory) -> None:
    def heading() -> str:
        found = re.search(r"<h1>(.*?)</h1>", report_page(read_story(run)))
        assert found
        return found[1]

    def end(number: int, ending: Ending) -> None:
        with LineLog.open(run.episodes) as log:
            log.append(EpisodeLine(f"e/{number}", "t/1", "t", ending, 1, 0, 0, "phone-0", 0.0, 1.0))

    assert heading() == run.path.name
    dry = '[devices]\nkind = "adb"\n[devices.android.safety]\ndry_run = true\n'
    run.config.write_text(dry)
    assert heading() == f"DRY RUN · {run.path.name}"  # before the first episode
    run.config.write_text(dry.replace("true", "false"))
    assert heading() == run.path.name
    end(1, Ending.DRY_RUN)
    assert heading() == f"DRY RUN · {run.path.name}"  # a folder of kept episodes has no settings
    end(2, Ending.SUCCESS)
    assert heading() == f"DRY RUN in 1 of 2 episodes · {run.path.name}"


def test_the_curve_is_over_judged_episodes_in_sliding_windows(run: RunDirectory) -> None:
    with LineLog.open(run.episodes) as log:
        for number in range(40):
            ending = Ending.SUCCESS if number >= 20 else Ending.FAILURE
            if number % 5 == 0:
                ending = Ending.APP_CRASH
            log.append(
                EpisodeLine(f"{number}", "t", "t", ending, 1, 0, 0, "p", number, number + 1.0)
            )
    curve = read_story(run).success_curve()
    assert curve[0][1].rate == 0.0
    assert curve[-1][1].rate == 1.0
    assert {rate.episodes for _, rate in curve} == {12}
    assert [seconds for seconds, _ in curve] == sorted(seconds for seconds, _ in curve)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[tasks]\nsplit = "train"\n', "which training never saw"),
        ('[tasks]\nsplit = "test"\n', "which training played too"),
        ('[tasks]\nsplit = "paraphrased"\n', "which training played too"),  # tasks of test
        ('[environments.a.tasks]\nsplit = "test"\n', "which training played too"),
    ],
)
def test_only_what_training_did_not_play_is_called_unseen(
    tmp_path: Path, settings: str, said: str
) -> None:
    run = RunDirectory(tmp_path)
    run.config.write_text(settings, "utf-8")
    counts = (TemplateCount("clock.a", 1, 2),)
    with LineLog.open(run.evaluations) as log:
        stages: tuple[Stage, ...] = ("before", "after")
        for updates, stage in enumerate(stages):
            line = EvaluationLine(stage, "test", updates, updates, 1.0, counts)
            log.append(line)
    assert f"the split “test”, {said}" in write_report(run).read_text("utf-8")


def test_a_phone_that_was_lost_is_named_with_its_reason_and_what_it_cost(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.config.touch()
    with LineLog.open(run.device_faults) as faults, LineLog.open(run.episodes) as episodes:
        faults.append(DeviceFault("phone-1", 3.0, "DeviceTimeout: it hangs"))
        faults.append(DeviceFault("phone-1", 9.0, "DeviceLocked: <b>a PIN</b> is wanted"))
        for number, ending in enumerate((Ending.DEVICE_LOST, Ending.SUCCESS, Ending.DEVICE_LOST)):
            line = EpisodeLine(f"e{number}", "t", "t", ending, 1, 0, 0, "phone-1", 0.0, 1.0)
            episodes.append(line)
    page = write_report(run).read_text("utf-8")
    row = '<td>phone-1</td><td class="number">2</td><td class="number">2</td>'
    assert f"{row}<td>DeviceLocked: &lt;b&gt;a PIN" in page
    assert "it hangs" not in page
