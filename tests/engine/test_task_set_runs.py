"""Runs on tasks that are not ours: Android in the Wild on any phone, AndroidWorld on its own."""

from __future__ import annotations

import io
import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from rich.console import Console
from tests.agent.tiny_models import tiny_model
from tests.chat.chat_protocol import Reply, serving
from tests.devices.adb.served_phones import ServedPhones, served_phones
from tests.engine.aitw_files import aitw_settings
from tests.engine.test_vlm_judged_runs import by_the_question, lines, stored
from tests.engine.tiny_runs import tiny_config
from tests.task_sets.android_world_server import LightSwitch, android_world

from distrl.cli.train import new_directory, run_command
from distrl.devices.safety.refusals import Refusal
from distrl.devices.safety.safety import SENTENCE
from distrl.engine.local.local_engine import LocalEngine
from distrl.errors import ConsentMissing, DeviceDisconnected, InvalidSetting
from distrl.json_lines import read_lines
from distrl.records import Ending
from distrl.reporting.run_story import read_story
from distrl.runs.run_directory import RunDirectory
from distrl.view.run_summary import run_summary

ONE_PROCESS = "collection.mode=one_process"


def engine_for(folder: Path, model: Path, *overrides: str) -> tuple[LocalEngine, io.StringIO]:
    said = io.StringIO()
    config = tiny_config(folder, model, *overrides)
    return LocalEngine(config, new_directory(config), Console(file=said, width=300)), said


def vlm(url: str) -> list[str]:
    return ["judge.kind=vlm", f"judge.server={url}", "judge.model=judge", "judge.tries=1"]


@pytest.mark.slow
def test_leaked_instructions_are_said_and_never_trained_on(tmp_path: Path, model: Path) -> None:
    with serving(Reply(by_the_question)) as (url, _):
        words = [ONE_PROCESS, "run.trajectories=8", *aitw_settings(tmp_path), *vlm(url)]
        engine, said = engine_for(tmp_path, model, *words)
        engine.train()
        assert "1 of 2 test instructions were in the training file as well" in said.getvalue()
        first = set(stored(engine.directory))
        resumed, _ = engine_for(tmp_path, model, *words, "run.trajectories=12")
        LocalEngine(resumed.config, engine.directory, Console(quiet=True)).train(resumed=True)
    begun = sorted(stored(engine.directory).values(), key=lambda each: int(each.id.split("/")[1]))
    everything = [each.task.instruction for each in begun]
    assert set(everything) == {"Open the settings", "Show the notes", "What's the weather?"}
    assert len(everything) >= 12
    assert {each.id for each in begun[: len(first)]} == first
    for start in range(0, 12, 3):  # each once a round, across the resume as well
        assert len(set(everything[start : start + 3])) == 3


# Phones on adb that nobody can look into ---------------------------------------------------------


def over_adb(phones: ServedPhones) -> list[str]:
    return [
        ONE_PROCESS,
        "run.trajectories=2",
        "devices.count=1",
        "devices.kind=adb",
        f"devices.serials={phones.phones.addresses[0]}",
        f"devices.android.adb_port={phones.adb.port}",
        "devices.android.stillness.reaction_seconds=0.0",
        "devices.android.stillness.quiet_seconds=0.0",
    ]


def pretend(phones: ServedPhones, hardware: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(phones.handset().properties, "ro.hardware", hardware)


def test_an_emulator_that_adb_lists_is_played_on_when_no_facts_are_needed(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served_phones(1) as phones, serving(Reply(by_the_question)) as (url, _):
        pretend(phones, "ranchu", monkeypatch)
        simulated, _ = engine_for(tmp_path, model, *over_adb(phones), *vlm(url))
        with pytest.raises(InvalidSetting, match="no served simulated phone"):
            simulated.train()
        words = [*over_adb(phones), *aitw_settings(tmp_path), *vlm(url)]
        engine, _ = engine_for(tmp_path, model, *words)
        engine.train()
    assert all(ending.judged for _, ending in lines(engine.directory))
    assert len(lines(engine.directory)) >= 2


def test_a_handset_needs_consent_and_is_guarded(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISTRL_CONSENT", str(tmp_path / "consent"))
    with served_phones(1) as phones, serving(Reply(by_the_question)) as (url, judge):
        pretend(phones, "qcom", monkeypatch)
        words = [*over_adb(phones), *aitw_settings(tmp_path), *vlm(url)]
        words += ["devices.android.safety.dry_run=true", "agent.policy.sampling.max_new_tokens=24"]
        engine, _ = engine_for(tmp_path, Path("starter"), *words)
        with pytest.raises(ConsentMissing, match="is a handset"):
            engine.train()
        assert not engine.directory.trajectories.exists()
        serial = phones.phones.addresses[0]
        (tmp_path / "consent").mkdir()
        (tmp_path / "consent" / f"{serial.replace(':', '_')}.toml").write_text(
            f'serial = "{serial}"\nowner = "Ada"\nsentence = "{SENTENCE}"\napps = []\n'
        )
        phones.handset().open_app("Settings")
        before = phones.handset().phone.snapshot()
        said, places = io.StringIO(), [f"run.directory={tmp_path}/dry", "agent.model=starter"]
        console, words = Console(file=said, width=300), [*places, *words]
        assert run_command(console, tmp_path / "tiny.toml", words, None, dry_run=False) == 0
        after = phones.handset().phone.snapshot()
    [run] = [RunDirectory(path) for path in (tmp_path / "dry").iterdir()]
    assert len(lines(run)) >= 2
    assert dict(after.facts.tables()) == dict(before.facts.tables())
    assert (after.front, after.actions) == (before.front, before.actions)  # no reset either
    assert {each.why for each in read_lines(run.refusals, Refusal)} == {"this is a dry run"}
    assert "Not carried out" in run.report.read_text("utf-8")
    assert f"<h1>DRY RUN · {run.path.name}</h1>" in run.report.read_text("utf-8")
    assert run_summary(read_story(run))["dry_run"] == "DRY RUN"
    assert {ending for _, ending in lines(run)} == {Ending.DRY_RUN}
    assert not judge.completions  # what never happened is not judged,
    assert json.loads((run.path / "result.json").read_text())["updates"] == 0  # nor learned from
    path, *others = said.getvalue().splitlines()
    assert path == str(run.path)
    assert others
    assert all(line.startswith("DRY RUN") for line in others)


# AndroidWorld ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def any_size() -> Path:
    """A model that reads screens of other sizes than the simulated phone's."""
    return tiny_model("qwen2_vl")


def on_android_world(*urls: str) -> list[str]:
    return [
        "tasks.source=android_world",
        "tasks.templates=[]",
        f"tasks.android_world.urls={','.join(urls)}",
        "tasks.android_world.suite_seed=7",
        "devices.kind=android_world",
        f"devices.count={len(urls)}",
        "judge.kind=android_world",
        "evaluation.before=0",
        "evaluation.after=0",
        "pacing.minimum_fill=100",  # the learner waits: a model of this family takes its time
    ]


@pytest.mark.slow
def test_android_world_is_initialised_stepped_scored_and_torn_down(
    tmp_path: Path, any_size: Path
) -> None:
    phones = [LightSwitch(), LightSwitch()]
    with ExitStack() as opened:
        urls = [opened.enter_context(android_world(phone)) for phone in phones]
        words = [ONE_PROCESS, "run.trajectories=8", *on_android_world(*urls)]
        engine, _ = engine_for(tmp_path, any_size, *words)
        engine.train()
    trajectories = stored(engine.directory)
    assert {each.verdict.judge for each in trajectories.values() if each.verdict} == {
        "android_world"
    }
    assert len({each.task.id for each in trajectories.values()}) == 3
    for phone in phones:
        assert phone.seed == 7
        assert phone.initialised == set()  # the last one was torn down at the end
        begun = [call for call in phone.calls if call.startswith("/task/initialize")]
        ended = [call for call in phone.calls if call.startswith("/task/tear_down")]
        scored = [call for call in phone.calls if call.startswith("/task/score")]
        assert len(begun) == len(ended) == len(scored) >= 2


@pytest.mark.slow
def test_android_world_can_be_narrowed_down_and_judged_by_somebody_else(
    tmp_path: Path, any_size: Path
) -> None:
    phone = LightSwitch()
    with android_world(phone) as host, serving(Reply(by_the_question)) as (url, _):
        words = [ONE_PROCESS, "run.trajectories=2", *on_android_world(host), *vlm(url)]
        engine, _ = engine_for(tmp_path, any_size, *words, "tasks.templates=android_world.Say*")
        engine.train()
        assert {each.task.id for each in stored(engine.directory).values()} == {
            "android_world.SayColour/train/0"
        }
        assert not [call for call in phone.calls if call.startswith("/task/score")]
        assert [call for call in phone.calls if call.startswith("/task/initialize")]
        engine, _ = engine_for(tmp_path, any_size, *words, "tasks.templates=android_world.Nothing")
        with pytest.raises(InvalidSetting, match="none of AndroidWorld's 3 tasks"):
            engine.train()


def test_a_container_that_is_not_there_is_said_at_once(tmp_path: Path, any_size: Path) -> None:
    engine, _ = engine_for(tmp_path, any_size, *on_android_world("http://127.0.0.1:9"))
    with pytest.raises(DeviceDisconnected, match="see that its container runs"):
        engine.train()


@pytest.mark.slow
def test_a_phone_of_android_world_that_breaks_is_no_failure_of_the_agent(
    tmp_path: Path, any_size: Path
) -> None:
    phone = LightSwitch()
    phone.broken["/task/score"] = "500"
    with android_world(phone) as url:
        words = [ONE_PROCESS, "run.trajectories=3", *on_android_world(url)]
        engine, _ = engine_for(tmp_path, any_size, *words)
        engine.train()
    assert {ending for _, ending in lines(engine.directory)} == {Ending.JUDGE_UNAVAILABLE}
