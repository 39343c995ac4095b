"""Training on phones behind a real adb server is the same training, to the last bit of a weight."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from rich.console import Console
from tests.devices.adb.served_phones import ServedPhones, served_phones
from tests.engine.tiny_runs import tiny_config

from distrl.cli.train import new_directory
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.resume import corpus
from distrl.errors import InvalidSetting
from distrl.json_lines import read_lines
from distrl.learning.checkpoint import read_checkpoint
from distrl.records import Action, DoubleTap, DragAndDrop, Ending, OpenApp, Pinch
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import EpisodeLine

# Asked for an app that is not there, the simulated phone says so on its screen, Android to adb;
# and adb has one finger, which is no two taps at once.
DIFFERENT_OVER_ADB = (OpenApp, Pinch, DoubleTap, DragAndDrop)
SETTINGS = ("collection.mode=one_process", "run.updates=3", "evaluation.before=0")


def train(folder: Path, model: Path, *overrides: str) -> RunDirectory:
    folder.mkdir()
    config = tiny_config(folder, model, *SETTINGS, *overrides)
    run = new_directory(config)
    LocalEngine(config, run, Console(quiet=True)).train()
    return run


def over_adb(phones: ServedPhones) -> list[str]:
    serials = ",".join(phones.phones.addresses)
    return [
        "devices.kind=adb",
        f"devices.serials={serials}",
        f"devices.android.adb_port={phones.adb.port}",
    ]


def weights(run: RunDirectory) -> dict[str, torch.Tensor]:
    [*_, newest] = sorted(run.checkpoints.iterdir())
    found: dict[str, torch.Tensor] = {}

    def walk(value: object, path: str) -> None:
        if isinstance(value, torch.Tensor):
            found[path] = value
        elif isinstance(value, dict):
            for name, each in value.items():
                walk(each, f"{path}/{name}")

    walk(read_checkpoint(newest)["learner"], "")
    return found


def episodes(run: RunDirectory) -> list[tuple[str, Ending]]:
    return [(line.id, line.ending) for line in read_lines(run.episodes, EpisodeLine)]


def actions(run: RunDirectory) -> list[Action]:
    return [decision.action for each in corpus(str(run.path)) for decision in each.decisions]


@pytest.mark.slow
def test_the_same_run_with_and_without_adb(tmp_path: Path, model: Path) -> None:
    for number in range(20):  # until the tiny model does only what both can do alike
        seed = f"run.seed={number}"
        plain = train(tmp_path / f"plain-{number}", model, seed)
        if not any(isinstance(each, DIFFERENT_OVER_ADB) for each in actions(plain)):
            break
    else:
        pytest.fail("every seed had an action that is another one over adb")
    with served_phones(2) as phones:
        over = train(tmp_path / "adb", model, seed, *over_adb(phones))
    assert episodes(over) == episodes(plain)
    with_adb, without = weights(over), weights(plain)
    assert with_adb.keys() == without.keys()
    assert len(with_adb) > 10
    assert all(torch.equal(with_adb[name], without[name]) for name in without)


def test_a_phone_whose_facts_cannot_be_read_is_refused(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served_phones(2) as phones:
        monkeypatch.setitem(phones.handset().properties, "ro.hardware", "ranchu")
        with pytest.raises(InvalidSetting, match="no served simulated phone"):
            train(tmp_path / "emulator", model, *over_adb(phones))
