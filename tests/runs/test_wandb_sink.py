"""Metrics go to Weights & Biases where that is asked for, and its refusals say what to do.

The package is no part of our installation: a module of its name raises what wandb 0.31 does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.engine.tiny_runs import tiny_config

from distrl.engine.run.preflight import checks
from distrl.errors import NotInstalled, TrackerError
from distrl.runs.metrics import Metrics
from distrl.runs.run_directory import RunDirectory
from distrl.runs.wandb_sink import WandbSink, check_wandb

WANDB = """
import os
from types import SimpleNamespace
__version__ = "0.31.0"
calls = []
class Error(Exception): ...
class UsageError(Error): ...
class CommError(Error): ...
class AuthenticationError(CommError): ...
class Session:
    def define_metric(self, *words, **more): calls.append(("define", words, more))
    def log(self, figures):
        if calls[-1] == "the service dies":
            raise Error("The wandb backend process has shutdown")
        calls.append(("log", figures))
    def finish(self): calls.append(("finish",))
def setup():
    mode = os.environ.get("WANDB_MODE", "online")
    return SimpleNamespace(settings=SimpleNamespace(mode=mode))
def login(*, verify=False, prompt=True):
    key = os.environ.get("WANDB_API_KEY")
    if key == "refused" and verify:
        raise AuthenticationError("API key verification failed for host https://api.wandb.ai")
    return bool(key)
def init(**settings):
    if not os.environ.get("WANDB_API_KEY"):
        raise UsageError("No API key configured. Use `wandb login` to log in.")
    calls.append(("init", settings))
    return Session()
"""
OLD_LOGIN = "def login(key=None, timeout=None): return True"


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path)


def installed(words: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    module = ModuleType("wandb")
    exec(words, module.__dict__)
    monkeypatch.setitem(sys.modules, "wandb", module)
    return module


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return installed(WANDB, monkeypatch)


def test_weights_and_biases_gets_figures_when_asked(
    run: RunDirectory, wandb: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "taken")
    sink = WandbSink.open("phones", run.path, {"run.seed": 3})
    with Metrics.begin(run, [sink]) as metrics:
        metrics.record("learner", 4, {"loss/policy": 0.5})
    begun, *defined, logged, finished = wandb.calls
    assert begun[1]["id"] == run.path.name
    assert begun[1]["resume"] == "allow"
    assert begun[1]["config"] == {"run.seed": 3}
    assert ("define", ("*",), {"step_metric": "updates"}) in defined
    assert logged[1]["learner/loss/policy"] == 0.5
    assert logged[1]["updates"] == 4
    assert finished == ("finish",)


def test_without_the_package_it_is_said_what_to_install(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    for asked in (check_wandb, lambda: WandbSink.open("phones", run.path, {})):
        with pytest.raises(NotInstalled, match=r"reporting\.wandb=true.*pip install wandb"):
            asked()


def test_a_run_is_refused_before_its_start_without_a_key_that_is_taken(
    wandb: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(tmp_path, tmp_path, "reporting.wandb=true")
    [check] = [each for each in checks(config, tmp_path) if each.what == "Weights & Biases"]
    with pytest.raises(TrackerError, match=r"has no key here: `wandb login`.*WANDB_MODE=offline"):
        check.ask()
    monkeypatch.setenv("WANDB_API_KEY", "refused")
    with pytest.raises(TrackerError, match=r"verification failed.*WANDB_API_KEY"):
        check.ask()
    monkeypatch.setenv("WANDB_API_KEY", "taken")
    assert check.ask() == ""
    without = checks(tiny_config(tmp_path, tmp_path), tmp_path)
    assert "Weights & Biases" not in [each.what for each in without]


def test_offline_no_key_is_asked_for(wandb: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    assert check_wandb() == ""


def test_a_package_too_old_to_be_asked_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(WANDB + OLD_LOGIN, monkeypatch)
    assert "pip install -U wandb" in check_wandb()


def test_what_it_raises_in_a_run_is_typed(
    run: RunDirectory, wandb: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TrackerError, match=r"beginning the run .*No API key.*WANDB_MODE=offline"):
        WandbSink.open("phones", run.path, {})
    monkeypatch.setenv("WANDB_API_KEY", "taken")
    sink = WandbSink.open("phones", run.path, {})
    wandb.calls.append("the service dies")
    with Metrics.begin(run, [sink]) as metrics, pytest.raises(TrackerError, match="sending"):
        metrics.record("learner", 4, {"loss/policy": 0.5})
