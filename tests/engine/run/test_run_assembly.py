"""What a run has trained is a model that other commands take, also when the run was stopped."""

from __future__ import annotations

import html
import resource
import shlex
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch
from rich.console import Console
from tests.engine.ingest.full_disk import full_disk
from tests.engine.test_one_process import ONE_PROCESS, begin, press_control_c_after
from tests.engine.tiny_runs import tiny_config
from typer.testing import CliRunner

from distrl.agent.loading import load_policy
from distrl.agent.policy_weights import read_manifest
from distrl.cli.main import app
from distrl.cli.train import run_command
from distrl.engine.local.local_engine import LocalEngine
from distrl.engine.run.run_assembly import PatientPublisher, keep_policy
from distrl.engine.run.stop_request import StopRequest, StopRequested
from distrl.engine.wiring import build_policy
from distrl.learning.checkpoint import read_checkpoint
from distrl.runs.run_directory import RunDirectory, evaluation_words
from distrl.weights.weight_store import WeightStore

ADAPTERS = ("agent.policy.lora.rank=2",)


def checkpointed(run: RunDirectory) -> dict[str, torch.Tensor]:
    [*_, newest] = sorted(run.checkpoints.iterdir())
    weights: dict[str, torch.Tensor] = read_checkpoint(newest)["learner"]["policy"]
    return weights


@pytest.mark.parametrize("settings", [(), ADAPTERS])
@pytest.mark.slow
def test_a_run_that_was_stopped_and_resumed_keeps_its_newest_policy(
    tmp_path: Path, model: Path, settings: tuple[str, ...]
) -> None:
    engine = begin(tmp_path, model, "run.updates=6", *settings)
    run = engine.directory
    with press_control_c_after(run, updates=2), pytest.raises(StopRequested):
        engine.train()
    stopped = read_manifest(run.policy)
    assert stopped.kind == ("adapters" if settings else "whole")
    LocalEngine(engine.config, run, Console(quiet=True)).train(resumed=True)
    assert read_manifest(run.policy).weight_version > stopped.weight_version >= 2
    assert not list(run.path.glob(".policy*"))
    opened = load_policy(run.path)
    for name, weight in checkpointed(run).items():
        assert torch.equal(opened.weights()[name], weight), name


@pytest.mark.slow
def test_the_closing_words_are_a_command_that_works(tmp_path: Path, model: Path) -> None:
    config = tiny_config(tmp_path, model)
    console = Console(record=True, width=400, quiet=False, file=(tmp_path / "said").open("w"))
    words = [f"agent.model={model}", f"run.directory={tmp_path / 'runs'}", "run.updates=1"]
    assert (
        run_command(console, tmp_path / "tiny.toml", [*words, ONE_PROCESS], None, dry_run=False)
        == 0
    )
    console.file.close()
    [path] = (tmp_path / "runs").iterdir()
    command = evaluation_words(RunDirectory(path), config)
    assert command in console.export_text()
    assert command in html.unescape((path / "report.html").read_text("utf-8"))
    asked = [*shlex.split(command)[1:], "--episodes", "2"]
    answered = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert answered.exit_code == 0, answered.output
    assert "delete_alarm 0/1" in answered.output


def test_the_command_decides_as_the_run_was_measured(tmp_path: Path, model: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    sampled, greedy = (
        tiny_config(tmp_path, model),
        tiny_config(tmp_path, model, "evaluation.greedy=true"),
    )
    assert evaluation_words(run, sampled).endswith(" --sampled")
    assert evaluation_words(run, greedy).endswith(" --greedy")


def test_a_disk_that_takes_nothing_costs_the_export_and_not_the_run(
    tmp_path: Path, model: Path
) -> None:
    config, said = tiny_config(tmp_path, model), list[str]()
    run = RunDirectory(tmp_path / "run")
    run.path.mkdir()
    keep_policy(run, build_policy(config), 3, said.append)
    assert not said
    before = read_manifest(run.policy)
    policy, (soft, hard) = build_policy(config), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))  # the kernel refuses more
    try:
        keep_policy(run, policy, 4, said.append)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(said) == 1
    assert "--resume" in said[0]
    assert read_manifest(run.policy) == before


def test_a_full_disk_holds_the_learner_up_when_weights_are_published(tmp_path: Path) -> None:
    store, said = WeightStore(tmp_path / "weights"), list[str]()
    weights = {"w": torch.ones(2000)}
    with ExitStack() as disk:
        disk.enter_context(full_disk())
        make_room = disk.pop_all()
        waits = [lambda: None, make_room.close]
        publisher = PatientPublisher(
            store, StopRequest(), said.append, lambda seconds: waits.pop(0)()
        )
        publisher.publish(weights, 1)
    assert store.latest_version() == 1
    assert not waits
    [waiting, goes_on] = said
    assert waiting.startswith("the learner waits for the disk: could not publish version 1")
    assert goes_on == "version 1 of the weights is published: the learner goes on"


def test_a_stop_request_ends_the_wait_for_the_disk(tmp_path: Path) -> None:
    stop = StopRequest()

    def ask(seconds: float) -> None:
        stop.asked = True

    publisher = PatientPublisher(WeightStore(tmp_path), stop, lambda said: None, ask)
    with full_disk(), pytest.raises(StopRequested):
        publisher.publish({"w": torch.ones(2000)}, 1)
