"""`distrl evaluate` from end to end: played, kept, resumed, refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.agent.tiny_models import tiny_model
from tests.chat.chat_protocol import Reply, completion, serving
from tests.devices.adb.served_phones import ServedPhones, served_phones
from typer.testing import CliRunner

from distrl.cli.evaluate import Evaluation, evaluate_model, log_path
from distrl.cli.main import app
from distrl.devices.browser.chromium import find_chromium
from distrl.errors import NotInstalled, OtherSettings, RequestRefused, UsageError
from distrl.json_lines import encode_line
from distrl.task_sets.miniwob import find_pages

QUIET = Console(quiet=True)


def figures_of(*words: str) -> dict[str, Any]:
    """What the command writes."""
    result = CliRunner().invoke(app, ["evaluate", *words])
    if result.exception:
        raise result.exception
    path = Path(words[words.index("--json") + 1])
    return dict(json.loads(path.read_text()))


def test_the_command_plays_shows_and_writes(tmp_path: Path) -> None:
    path = tmp_path / "figures" / "scripted.json"
    words = ["scripted", "--episodes", "12", "--phones", "5", "--json", str(path)]
    result = CliRunner().invoke(app, ["evaluate", *words])
    assert result.exit_code == 0, result.output
    assert "scripted on the split" in result.output
    assert "12 of 12 episodes, success 100.0%" in result.output
    figures = json.loads(path.read_text())
    assert (figures["success"], figures["episodes"]) == (1.0, 12)
    assert 0.7 < figures["low"] < figures["high"] == 1.0
    assert set(figures["by_family"]) == {"general", "shopping"}
    assert figures["endings"] == {"success": 12}
    assert figures["invalid_rate"] == 0.0
    for name in ("by_template", "by_app", "by_difficulty", "steps_mean", "wall_s", "split", "seed"):
        assert name in figures


def test_how_many_devices_there_are_changes_nothing(tmp_path: Path) -> None:
    def played(devices: int) -> dict[str, Any]:
        name = str(tmp_path / f"{devices}.json")
        found = figures_of("monkey", "--episodes", "9", "--phones", str(devices), "--json", name)
        del found["wall_s"]
        return found

    assert played(1) == played(4) == played(30)


def test_templates_families_and_splits_are_chosen(tmp_path: Path) -> None:
    path = str(tmp_path / "some.json")
    some = ["--template", "notes.create", "--template", "shopping.buy"]
    figures = figures_of("done", *some, "--episodes", "4", "--split", "train", "--json", path)
    assert set(figures["by_template"]) == {"notes.create", "shopping.buy"}
    assert (figures["success"], figures["split"]) == (0.0, "train")
    one = figures_of("done", "--family", "shopping", "--episodes", "3", "--json", path)
    assert set(one["by_family"]) == {"shopping"}
    two = ["--family", "everyday", "--family", "general"]
    both = figures_of("done", *two, "--episodes", "4", "--json", path)
    assert set(both["by_family"]) == {"everyday", "general"}
    named = ["--template", "notes.*", "--template", "clock.turn_of[f]_alarm"]
    matched = figures_of("done", *named, "--episodes", "30", "--json", path)
    assert {name.partition(".")[0] for name in matched["by_template"]} == {"notes", "clock"}
    assert {name for name in matched["by_template"] if "clock" in name} == {"clock.turn_off_alarm"}


@pytest.mark.parametrize("split", ["paraphrased", "other_words"])
def test_tasks_in_words_that_nobody_demonstrated_are_a_split(tmp_path: Path, split: str) -> None:
    path = str(tmp_path / "figures.json")
    figures = figures_of("scripted", "--split", split, "--episodes", "4", "--json", path)
    assert (figures["success"], figures["split"]) == (1.0, split)
    assert set(figures["by_family"]) == {"general", "shopping"}


# Resuming ----------------------------------------------------------------------------------------


def _won(value: object) -> object:
    return "success" if value == "step_limit" else value


def test_a_longer_evaluation_plays_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "monkey.json"
    evaluate_model(QUIET, Evaluation("monkey", episodes=6, figures=path))
    log = log_path(path)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    marked = b"".join(
        encode_line({name: _won(value) for name, value in line.items() if name != "crc32"})
        for line in lines
    ).decode()
    log.write_text(marked)  # had they been played again, they would have failed again
    report = evaluate_model(QUIET, Evaluation("monkey", episodes=8, figures=path, resume=True))
    assert report.endings() == {"success": 6, "step_limit": 2}
    assert log.read_text().startswith(marked)
    whole = evaluate_model(QUIET, Evaluation("monkey", episodes=8, figures=tmp_path / "b.json"))
    assert [o.task for o in report.outcomes] == [o.task for o in whole.outcomes]


def test_a_shorter_evaluation_counts_only_its_own_tasks(tmp_path: Path) -> None:
    path = tmp_path / "done.json"
    evaluate_model(QUIET, Evaluation("done", episodes=6, figures=path))
    report = evaluate_model(QUIET, Evaluation("done", episodes=4, figures=path, resume=True))
    assert len(report.outcomes) == 4


def test_without_resume_it_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "done.json"
    evaluate_model(QUIET, Evaluation("done", episodes=6, figures=path))
    evaluate_model(QUIET, Evaluation("idle", episodes=2, figures=path))
    assert len(log_path(path).read_text().splitlines()) == 3


@pytest.mark.parametrize(
    "other",
    [
        Evaluation("idle", episodes=2),
        Evaluation("done", episodes=2, seed=1),
        Evaluation("done", episodes=2, families=("general",)),
        Evaluation("done", episodes=2, blank="screen"),
        Evaluation("done", episodes=2, temperature=1.0),
    ],
)
def test_other_settings_are_not_mixed_in(tmp_path: Path, other: Evaluation) -> None:
    path = tmp_path / "done.json"
    evaluate_model(QUIET, Evaluation("done", episodes=2, figures=path))
    with pytest.raises(OtherSettings, match="leave out --resume"):
        evaluate_model(QUIET, replace(other, figures=path, resume=True))


def test_weights_that_changed_on_disk_are_other_settings(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"1234")
    before = Evaluation(str(model)).settings()
    assert before == Evaluation(str(model)).settings()
    os.utime(model / "model.safetensors", ns=(1, 1))
    assert before != Evaluation(str(model)).settings()


def test_a_model_that_cannot_be_had_costs_no_log(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    evaluate_model(QUIET, Evaluation("done", episodes=2, figures=path))
    before = log_path(path).read_bytes()
    bad = Evaluation("http://127.0.0.1:9/v1", figures=path, dialect="nobody speaks this")
    with pytest.raises(UsageError, match="nobody speaks this"):
        evaluate_model(QUIET, bad)
    assert log_path(path).read_bytes() == before


# Models ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--greedy"], [], ["--temperature", "0.7"]])
@pytest.mark.slow
def test_a_model_on_disk_is_loaded_once_and_gives_the_same_again(
    tmp_path: Path, words: list[str]
) -> None:
    def played(name: str) -> tuple[dict[str, Any], str]:
        path = tmp_path / name
        model = str(tiny_model("auto_ui"))
        some = ["--dialect", "compact", "--episodes", "3", "--phones", "3", "--seed", "5"]
        figures = figures_of(model, *some, *words, "--json", str(path))
        return figures, log_path(path).read_text()

    (figures, log), (_, again) = played("first.json"), played("second.json")
    assert log == again
    assert figures["success"] == 0.0  # random weights
    assert figures["invalid_rate"] > 0.9
    wanted = {"--greedy": None, "--temperature": 0.7}
    assert figures["temperature"] == (wanted[words[0]] if words else 1.0)


def test_a_served_model_is_evaluated_and_resumed_after_its_server_failed(tmp_path: Path) -> None:
    fine = Reply(completion("<done>", token_ids=None, model="policy-v3"))
    mumbled = Reply(completion("er, hello", token_ids=None, model="policy-v3"))
    replies = [fine, mumbled, fine, Reply(b"no", status=400), fine]  # and fine ever after
    with serving(*replies) as (url, log):
        evaluation = Evaluation(
            url, episodes=5, devices=1, dialect="compact", figures=tmp_path / "served.json"
        )
        with pytest.raises(RequestRefused):
            evaluate_model(QUIET, evaluation)
        assert len(log.completions) == 4
        report = evaluate_model(QUIET, replace(evaluation, resume=True))
    assert len(log.completions) == 7
    figures = report.figures()
    assert figures["endings"] == {"failure": 5}
    assert figures["weight_version"] == 3
    assert figures["invalid_rate"] == 1 / 6


def test_a_server_needs_a_dialect() -> None:
    with pytest.raises(UsageError, match="--dialect"):
        evaluate_model(QUIET, Evaluation("http://127.0.0.1:9/v1"))


def test_a_missing_package_is_named_with_the_extra_that_has_it() -> None:
    code = """
import sys
sys.modules["torch"] = sys.modules["httpx"] = None
from rich.console import Console
from distrl.cli.evaluate import Evaluation, evaluate_model
from distrl.errors import NotInstalled
for model in ("some/model", "http://127.0.0.1:9/v1"):
    try:
        evaluate_model(Console(quiet=True), Evaluation(model, dialect="compact", episodes=1))
    except NotInstalled as error:
        print(str(error).replace("\\n", " "))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for extra, said in zip(("learn", "served"), run.stdout.splitlines(), strict=True):
        assert f"distrl[{extra}]" in said
        assert "scripted" in said


# Bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["monkey", "--split", "exam"], "--split exam"),
        (["monkey", "--family", "garden"], "there are general, shopping, everyday, both"),
        (["monkey", "--blank", "eyes"], "--blank eyes"),
        (["monkey", "--template", "notes.creat"], "notes.create"),
        (["monkey", "--template", "kettle.*"], "no template of the split 'test' matches"),
        (["monkey", "--family", "general", "--family", "garden"], "--family garden"),
        (["monkey", "--greedy", "--temperature", "0.5"], "--sampled"),
        (["monkey", "--continue"], "--json"),
        (["monkey", "--adapter", "lora"], "no weights"),
        (["http://127.0.0.1:9/v1", "--adapter", "lora"], "no weights"),
    ],
)
def test_bad_input_is_said_in_one_sentence(words: list[str], wrong: str) -> None:
    result = CliRunner().invoke(app, ["evaluate", *words, "--episodes", "1"])
    assert isinstance(result.exception, UsageError)
    assert wrong in str(result.exception)


def adb_settings(folder: Path, phones: ServedPhones) -> Path:
    path = folder / "adb.toml"
    path.write_text(
        f'[devices]\nkind = "adb"\ncount = 1\nserials = ["{phones.phones.addresses[0]}"]\n'
        f"[devices.android]\nadb_port = {phones.adb.port}\n"
        '[tasks]\ntemplates = ["clock.turn_off_alarm"]\n'
    )
    return path


def test_one_model_on_several_devices_is_one_table(tmp_path: Path) -> None:
    with served_phones(1) as phones:
        adb = adb_settings(tmp_path, phones)
        other = tmp_path / "large.toml"
        other.write_text(
            '[devices]\nscreen = "412x732"\n[tasks]\nsplit = "undemonstrated"\n'
            'templates = ["clock.turn_on_alarm"]\n[evaluation]\nsplit = "undemonstrated_test"\n'
        )
        path = tmp_path / "figures.json"
        words = ["scripted", "--episodes", "1", "--json", str(path)]
        for each in (adb, other):
            words += ["--on", str(each)]
        result = CliRunner().invoke(app, ["evaluate", *words])
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines() if "100.0%" in line]
    assert [row[:2] for row in rows][-2:] == [["adb", "100.0%"], ["large", "100.0%"]]
    figures = json.loads(path.read_text())
    assert figures.keys() == {str(adb), str(other)}
    assert all(each["success"] == 1.0 for each in figures.values())
    splits = [each["split"] for each in figures.values()]
    assert splits == ["test", "undemonstrated_test"]  # what each is evaluated on


@pytest.mark.browser
def test_phones_adb_and_web_pages_are_in_one_table(tmp_path: Path) -> None:
    try:
        find_chromium()
        find_pages()
    except NotInstalled as error:
        pytest.skip(f"left out: {error}")
    simulated, path = tmp_path / "simulated.toml", tmp_path / "figures.json"
    simulated.write_text('[tasks]\ntemplates = ["clock.turn_off_alarm"]\n')
    pages = tmp_path / "pages.toml"
    pages.write_text(
        '[devices]\nkind = "browser"\ncount = 1\n[judge]\nkind = "page"\n'
        '[tasks]\nsource = "miniwob"\ntemplates = ["miniwob.click-test"]\n'
    )
    with served_phones(1) as phones:
        every = [adb_settings(tmp_path, phones), simulated, pages]
        words = [word for each in every for word in ("--on", str(each))]
        words += ["--episodes", "1", "--json", str(path)]
        result = CliRunner().invoke(app, ["evaluate", "done", *words])
    assert result.exit_code == 0, result.output
    rows = [line.split()[0] for line in result.output.splitlines() if "0.0%" in line]
    assert rows[-3:] == ["adb", "simulated", "pages"]
    figures = json.loads(path.read_text())
    assert figures.keys() == {str(each) for each in every}
    for each in figures.values():  # all were played and judged; "done" at once is never right
        assert (each["episodes"], each["endings"]) == (1, {"failure": 1})
    assert set(figures[str(pages)]["by_template"]) == {"miniwob.click-test"}
