"""Phones over adb are a run's own: leased before they are touched, kept by serial."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from rich.console import Console
from tests.devices.adb.lease_holder import leased_elsewhere
from tests.devices.adb.served_phones import ServedPhones, served_phones
from tests.engine.tiny_runs import tiny_config
from typer.testing import CliRunner

from distrl import api
from distrl.cli.main import app
from distrl.cli.train import new_directory
from distrl.config.training_config import TrainingConfig
from distrl.devices.device import Device
from distrl.engine.adb_wiring import lease_phones
from distrl.engine.device_wiring import build_device_pool
from distrl.engine.environment import play_environment
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.losses import check_phone_losses
from distrl.episodes.evaluation import SIMPLE_AGENTS
from distrl.errors import CorruptData, DataLost, InvalidSetting
from distrl.json_lines import read_lines
from distrl.reporting.run_story import read_story
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import note_progress
from distrl.runs.run_records import Loss


@pytest.fixture(autouse=True)
def own_leases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture(scope="module")
def phones() -> Iterator[ServedPhones]:
    with served_phones(3) as served:
        yield served


def over_adb(phones: ServedPhones, *more: str) -> list[str]:
    return ["devices.kind=adb", f"devices.android.adb_port={phones.adb.port}", *more]


def engine(config: TrainingConfig) -> LocalEngine:
    return LocalEngine(config, new_directory(config), Console(quiet=True))


def evaluate(config: TrainingConfig) -> None:
    list(play_environment(config, SIMPLE_AGENTS["done"], 1, 0, "test"))


def build_devices(config: TrainingConfig) -> None:
    with api.build_devices(config):
        pass


@pytest.mark.parametrize(
    "drive",
    [
        lambda config: engine(config).train(),
        lambda config: engine(config).collect(),
        evaluate,  # and `distrl play --on`
        build_devices,
    ],
)
def test_a_phone_that_another_process_drives_is_refused(
    phones: ServedPhones, tmp_path: Path, model: Path, drive: Callable[[TrainingConfig], object]
) -> None:
    serial = phones.phones.addresses[0]
    words = over_adb(phones, "devices.count=1", f"devices.serials={serial}")
    config = tiny_config(tmp_path, model, *words, "collection.mode=one_process", "run.updates=1")
    with leased_elsewhere(serial, tmp_path / "theirs") as process:
        said = rf"the phone {serial} is driven by process {process.pid} .*{tmp_path}/theirs"
        with pytest.raises(InvalidSetting, match=said):
            drive(config)


def test_a_collector_that_joins_is_refused_before_it_asks_the_learner(
    phones: ServedPhones, tmp_path: Path
) -> None:
    serial, token = phones.phones.addresses[0], tmp_path / "token"
    token.write_text("t" * 43)
    token.chmod(0o600)
    words = ["collect", "--join", "https://127.0.0.1:1", "--fingerprint", "0" * 64]
    words += ["--token-file", str(token), "--spool", str(tmp_path / "spool"), "--give-up", "0"]
    for each in over_adb(phones, "devices.count=1", f"devices.serials={serial}"):
        words += ["--set", each]
    with leased_elsewhere(serial, tmp_path / "other-spool"):
        result = CliRunner().invoke(app, words)
    assert isinstance(result.exception, InvalidSetting), result.output
    assert f"the phone {serial} is driven by process" in str(result.exception)


def serials(devices: list[Device]) -> list[str]:
    return [device.device.shell.serial for device in devices]  # type: ignore[attr-defined]


def test_a_phone_that_goes_away_does_not_shift_the_others(
    phones: ServedPhones, tmp_path: Path, model: Path
) -> None:
    words = over_adb(phones, "devices.count=2", "collection.collectors=2")
    config, run = tiny_config(tmp_path, model, *words), RunDirectory(tmp_path / "run")
    run.path.mkdir()

    def collector(number: int) -> list[str]:
        with ExitStack() as opened:
            pool = build_device_pool(config, number, opened, run.path / "logs")
            return serials(list(pool.devices))

    with ExitStack() as opened:
        lease_phones(config, run.path, opened, say=pytest.fail)
        kept = chosen(run)
        first, second = kept["phone-0"], kept["phone-1"]
        assert (collector(0), collector(1)) == ([first], [second])
        phones.adb.server.disconnect(first)
        assert collector(1) == [second]  # started again; by its index it would be the third
        phones.adb.server.connect(first)
        phones.adb.server.link(first).wait_until_usable(10.0)
    with ExitStack() as opened:  # another start of the run has the same phones
        lease_phones(config, run.path, opened, say=pytest.fail)
        assert chosen(run) == kept
    with pytest.raises(CorruptData, match="does not say which phones are leased"):
        collector(1)  # nobody has leased them


def chosen(run: RunDirectory) -> dict[str, str]:
    table: dict[str, str] = json.loads(run.phones.read_text())
    return {name: table[name] for name in ("phone-0", "phone-1")}


def test_a_resume_keeps_each_phone_under_its_name_and_says_which_is_another(
    phones: ServedPhones, tmp_path: Path, model: Path
) -> None:
    config = tiny_config(tmp_path, model, *over_adb(phones, "devices.count=2"))
    run, said = RunDirectory(tmp_path / "run"), list[str]()
    run.path.mkdir()
    with ExitStack() as opened:
        lease_phones(config, run.path, opened, said.append)
    before = chosen(run)
    assert said == []
    with leased_elsewhere(before["phone-0"], tmp_path / "theirs"), ExitStack() as opened:
        lease_phones(config, run.path, opened, said.append)
        now = chosen(run)
    assert now["phone-1"] == before["phone-1"]
    assert now["phone-0"] not in before.values()
    assert said == [
        f"other phones than before: phone-0 was {before['phone-0']} and is {now['phone-0']}"
    ]


@pytest.mark.parametrize("damage", ["gone", "cut", "flipped"])
def test_a_resume_without_the_phones_that_it_had_is_refused_unless_that_is_accepted(
    phones: ServedPhones, tmp_path: Path, model: Path, damage: str
) -> None:
    words = over_adb(phones, "devices.count=2", "collection.mode=one_process")
    config, said = tiny_config(tmp_path, model, *words), list[str]()
    run = new_directory(config)
    with ExitStack() as opened:
        lease_phones(config, run.path, opened, said.append)
        note_progress(run, None, 0)
    whole = run.phones.read_bytes()
    at = whole.index(b"127.0.0.1") + len("127.0.0.1:")
    flipped = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
    content = {"gone": None, "cut": whole[: len(whole) // 2], "flipped": flipped}[damage]
    run.phones.unlink()
    if content is not None:
        run.phones.write_bytes(content)
        with ExitStack() as opened, pytest.raises(DataLost, match="not as it was written"):
            lease_phones(config, run.path, opened, said.append)
    with pytest.raises(DataLost, match=r"phones\.json is .*--accept-losses"):
        LocalEngine(config, run, Console(quiet=True)).train(resumed=True)
    assert (run.phones.read_bytes() if run.phones.exists() else None) == content
    assert [each.name for each in read_story(run).losses] == ["phones.json"]
    check_phone_losses(run, said.append, accept=True)
    with ExitStack() as opened:
        lease_phones(config, run.path, opened, said.append)
    assert chosen(run)
    [sentence] = said
    assert sentence.startswith("going on without what was lost: phones.json is ")
    assert [each.name for each in read_lines(run.losses, Loss)] == ["phones.json"]
