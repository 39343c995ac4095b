"""`distrl imitate` from end to end: pretrained, shown, saved, drawn, refused."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import msgspec
import pytest
from PIL import Image
from rich.console import Console
from tests.agent.tiny_models import tiny_model
from tests.imitation.tiny_pretraining import SIZES, SMALL
from typer.testing import CliRunner

from distrl.cli.imitate import chosen_settings, pretrain_and_show
from distrl.cli.main import app
from distrl.errors import InvalidSetting, StorageError, UsageError
from distrl.imitation.imitation import ImitationSettings, Progress
from distrl.imitation.pretraining import check_memory, settings_for
from distrl.imitation.sample_arrays import bytes_per_sample
from distrl.reporting.progress import ImitationProgress

POINT = Progress(50, 4.0, 800, 1.25, 0.5, 0.9, 0.75)


def written(points: list[Progress], *, steps: int, terminal: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=160)
    with ImitationProgress(console, dataclasses.replace(SMALL, steps=steps)) as progress:
        for point in points:
            progress.show(point)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_model_is_pretrained_shown_and_drawn(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=160)
    curve = pretrain_and_show(console, SMALL, tmp_path / "model", sizes=SIZES)
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "2 of 3 steps: loss" in said
    assert "samples/s" in said
    assert "of the validation set right" in said
    saved = (tmp_path / "model" / "curve.json").read_bytes()
    assert msgspec.json.decode(saved, type=list[Progress]) == curve
    with Image.open(tmp_path / "model" / "curve.png") as picture:
        assert picture.size[0] > 1000
    assert (tmp_path / "model" / "imitation.json").is_file()


def test_elsewhere_than_on_a_terminal_a_line_is_written_now_and_then() -> None:
    points = [dataclasses.replace(POINT, step=step) for step in range(1, 1001)]
    assert len(written(points, steps=1000, terminal=False).splitlines()) == 20
    validated = dataclasses.replace(POINT, step=3, validation=0.375)
    [line] = written([validated], steps=1000, terminal=False).splitlines()
    assert line == (
        "3 of 1,000 steps: loss 1.250, reading 0.500, right 75%, validation 37.5%, 200 samples/s"
    )
    later = written([validated, dataclasses.replace(POINT, step=60)], steps=1000, terminal=False)
    assert "validation 37.5%" in later.splitlines()[1]  # the last one that there was


def test_on_a_terminal_there_is_a_bar() -> None:
    shown = written([POINT], steps=100, terminal=True)
    assert "50/100" in shown
    assert "loss 1.250" in shown


def test_typed_words_come_before_the_file_and_the_file_before_the_defaults(tmp_path: Path) -> None:
    config = tmp_path / "pretraining.toml"
    config.write_text("steps = 70\nbatch = 9\nslip_rate = 0\n")
    given = {"steps": 7, "seed": None, "enough": 0.5}
    settings = chosen_settings("cuda", config, given)
    assert (settings.steps, settings.batch, settings.slip_rate) == (7, 9, 0.0)
    assert (settings.enough, settings.seed) == (0.5, 0)
    assert settings.validate_every == ImitationSettings().validate_every


def test_a_cpu_gets_a_short_run_and_a_gpu_what_made_our_model() -> None:
    assert settings_for("cuda", 64) == ImitationSettings()
    small = settings_for("cpu", 2)
    assert small.processes == 1
    assert small.reservoir * bytes_per_sample() < 4e9
    assert small.batch < ImitationSettings().batch


def test_more_samples_than_there_is_memory_are_refused() -> None:
    wide = dataclasses.replace(SMALL, reservoir=64_000)
    check_memory(wide, "cuda", 10**9)  # they lie on the GPU
    with pytest.raises(UsageError, match=r"51.1 GB, and this machine has 8.0 GB; lower reservoir"):
        check_memory(wide, "cpu", 8 * 10**9)


@pytest.mark.parametrize(
    ("words", "content", "error", "said"),
    [
        (["--steps", "0"], "", InvalidSetting, "steps=0 .--steps.: give a whole number, 1 or more"),
        ([], "stepz = 3", InvalidSetting, "unknown setting stepz .*did you mean steps"),
        ([], 'batch = "many"', InvalidSetting, "batch='many' .*give a whole number"),
        ([], "steps =", InvalidSetting, "is not valid TOML"),
        ([], "reservoir = 65", InvalidSetting, "a multiple of 64"),
        (["--device", "gpu"], "", UsageError, "no device is called 'gpu'"),
        (["--out", "/proc/x"], "", StorageError, "making /proc/x for the model"),
    ],
)
def test_bad_input_is_one_clear_error(
    words: list[str], content: str, error: type[Exception], said: str, tmp_path: Path
) -> None:
    config = tmp_path / "pretraining.toml"
    config.write_text(content)
    out = tmp_path / "model"
    asked = ["imitate", "--out", str(out), "--config", str(config), *words]
    result = CliRunner().invoke(app, asked)
    assert isinstance(result.exception, error)
    with pytest.raises(error, match=said):
        raise result.exception
    assert not out.exists()


def test_a_config_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="there is no config file"):
        chosen_settings("cpu", tmp_path / "none.toml", {})


# A model that is taught in place of a starter -----------------------------------------------------


def test_a_language_model_is_taught_and_saved(tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text(
        'batch = 2\npool = 4\nvalidation_set = 2\ntemplates = ["clock.delete_alarm"]\n'
    )
    words = ["--model", str(tiny_model("llama")), "--out", str(tmp_path / "taught"), "--lora", "2"]
    words += ["--sees", "both"]
    result = CliRunner().invoke(app, ["imitate", *words, "--config", str(config), "--steps", "1"])
    assert result.exit_code == 0, result.exception
    assert "1 of 1 steps: loss" in result.output
    assert "validation" in result.output
    assert (tmp_path / "taught" / "adapter_model.safetensors").is_file()
    assert (tmp_path / "taught" / "projector.safetensors").is_file()
    again = CliRunner().invoke(app, ["imitate", *words])
    assert isinstance(again.exception, UsageError)
    assert "is there already" in str(again.exception)


def test_what_is_for_the_starter_alone_is_refused_with_a_model(tmp_path: Path) -> None:
    words = ["--model", "any/model", "--out", str(tmp_path / "taught"), "--enough", "0.9"]
    result = CliRunner().invoke(app, ["imitate", *words])
    assert isinstance(result.exception, UsageError)
    assert "--start and --enough are for the starter" in str(result.exception)


def test_what_a_model_is_given_of_a_phone_is_asked_with_a_model_alone() -> None:
    result = CliRunner().invoke(app, ["imitate", "--sees", "both"])
    assert isinstance(result.exception, UsageError)
    assert "--sees goes with --model" in str(result.exception)
