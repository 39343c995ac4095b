"""Runs so small that they take seconds: a model with random weights on easy tasks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from distrl.agent.starter.building import new_model
from distrl.config.training_config import TrainingConfig, load_config
from distrl.imitation.pretraining import save
from distrl.process_environment import for_forkserver
from phonesim.drawing.icons import ICONS

SIZES = {"width": 48, "heads": 4, "reader_width": 16, "encoder_layers": 1, "decoder_layers": 1}
SETTINGS = """
[run]
name = "tiny"
minutes = 5
free_gigabytes = 0.01
checkpoint_minutes = 0.05

[tasks]
templates = ["clock.turn_off_alarm", "clock.delete_alarm"]

[devices]
count = 2

[agent.policy.sampling]
max_new_tokens = 3

[collection]
heartbeat_seconds = 1.0

[pacing]
samples_per_insert = 1
minimum_fill = 2

[learning.learner]
batch_trajectories = 2
refresh_trajectories = 0
updates_per_publish = 1

[evaluation]
before = 1
after = 1

[reporting]
recordings = 2
line_seconds = 1
"""


def write_model(folder: Path) -> Path:
    save(new_model(ICONS, 0, **SIZES), folder / "model")
    return folder / "model"


def tiny_config(folder: Path, model: Path, *overrides: str) -> TrainingConfig:
    """Settings whose runs lie in the folder."""
    return load_config(_settings_file(folder), [*_places(folder, model), *overrides])


def mixed_config(folder: Path, model: Path, *overrides: str) -> TrainingConfig:
    """The same with two environments: other tasks, screens, curricula and ends of episodes."""
    (folder / "small.toml").write_text(
        '[tasks]\ntemplates = ["clock.turn_off_alarm"]\n[devices]\ncount = 2\n', "utf-8"
    )
    (folder / "tall.toml").write_text(
        '[tasks]\ntemplates = ["clock.delete_alarm"]\ncurriculum = "success_rate"\n'
        '[devices]\nscreen = "400x800@1"\n[collection]\nstop_on_success = true\n',
        "utf-8",
    )
    before, _, rest = SETTINGS.partition("[tasks]")
    own = before + rest[rest.index("[agent") :]
    for name in ("small", "tall"):
        own += f'[environments.{name}]\nsettings = "{folder}/{name}.toml"\n'
    own += "[environments.tall.devices]\ncount = 1\n"
    path = folder / "mixed.toml"
    path.write_text(own, "utf-8")
    return load_config(path, [*_places(folder, model), *overrides])


def _settings_file(folder: Path) -> Path:
    path = folder / "tiny.toml"
    path.write_text(SETTINGS, "utf-8")
    return path


def _places(folder: Path, model: Path) -> list[str]:
    return [f"run.directory={folder / 'runs'}", f"agent.model={model}"]


def command(folder: Path, model: Path, *overrides: str) -> list[str]:
    """`distrl train` with these settings, as a process of its own would be started."""
    words = ["train", str(_settings_file(folder))]
    for each in (*_places(folder, model), *overrides):
        words += ["--set", each]
    return [sys.executable, "-c", "from distrl.cli.main import main; main()", *words]


def start(words: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            words,
            env=for_forkserver(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
