"""Collecting on emulators of our own: a crash in the middle costs one episode and no verdict."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from tests.chat.chat_protocol import serving
from tests.devices.emulator.stand_in_sdk import PORTS, StandInSdk, stand_in_sdk
from tests.engine.aitw_files import aitw_settings
from tests.engine.test_vlm_judged_runs import stored
from tests.engine.tiny_runs import tiny_config
from tests.judging.judge_server import NO

from distrl.cli.train import new_directory
from distrl.engine.local.local_engine import LocalEngine
from distrl.errors import NotInstalled
from distrl.json_lines import read_lines
from distrl.judging.judge import JudgeRecord
from distrl.records import Ending
from distrl.runs.run_records import EpisodeLine

AT_ONCE = ("reaction_seconds", "quiet_seconds")


def settings(folder: Path, sdk: StandInSdk | None, url: str) -> list[str]:
    port = sdk.adb.port if sdk else 1
    return [
        *aitw_settings(folder),
        "judge.kind=vlm",
        f"judge.server={url}",
        "judge.model=judge",
        "devices.kind=emulator",
        "devices.count=2",
        "devices.spares=1",
        f"devices.android.adb_port={port}",
        f"devices.android.first_emulator_port={PORTS.first}",
        "devices.android.emulator.avd=phone",
        "devices.android.emulator.boot_seconds=60",
        *(f"devices.android.stillness.{name}=0.0" for name in AT_ONCE),
    ]


def processes(sdk: StandInSdk) -> list[int]:
    return [int(started.split()[0]) for started in sdk.starts]


@pytest.mark.slow
def test_an_emulator_is_killed_in_the_middle_and_a_spare_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the starter model, since a random one says nothing that a phone could be asked to do."""
    with stand_in_sdk(tmp_path, monkeypatch) as sdk, serving(NO) as (url, log):
        words = [*settings(tmp_path, sdk, url), "run.trajectories=12"]
        words.append("agent.policy.sampling.max_new_tokens=24")
        config = tiny_config(tmp_path, Path("starter"), *words)
        sdk.plan(*["first_to_act_dies"] * 3)
        engine = LocalEngine(config, new_directory(config), Console(quiet=True))
        run = engine.directory
        assert engine.collect() >= 12
        assert len(processes(sdk)) >= 3
        assert not [each for each in processes(sdk) if Path(f"/proc/{each}").exists()]
    trajectories = stored(run)
    [lost] = [name for name, each in trajectories.items() if each.ending.broken]
    assert trajectories[lost].ending is Ending.DEVICE_LOST
    assert trajectories[lost].verdict is None
    judged = read_lines(run.path / "judgements.jsonl", JudgeRecord)
    assert {each.trajectory for each in judged} == set(trajectories) - {lost}
    assert len(log.completions) == len([each for each in judged if not each.cached])
    lines = read_lines(run.episodes, EpisodeLine)
    place = [line.id for line in lines].index(lost)
    assert {line.device for line in lines[place + 1 :]} == {"phone-0", "phone-1"}
    assert {line.template for line in lines} == {"aitw_general"}


def test_without_the_program_it_is_said_before_anything_is_made(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in ("ANDROID_HOME", "ANDROID_SDK_ROOT"):
        monkeypatch.delenv(name, raising=False)
    config = tiny_config(tmp_path, model, *settings(tmp_path, None, "http://127.0.0.1:1/v1"))
    engine = LocalEngine(config, new_directory(config), Console(quiet=True))
    with pytest.raises(NotInstalled, match="the program emulator"):
        engine.train()
    assert not engine.directory.trajectories.exists()
