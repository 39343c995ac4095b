"""From random weights to a directory with a model in it, and nothing half done."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from tests.imitation.few_samples import samples
from tests.imitation.tiny_pretraining import SIZES, SMALL, new_pupil

from distrl.agent.loading import load_policy
from distrl.agent.starter.vocabulary import tokens
from distrl.errors import UsageError
from distrl.imitation.imitation import Progress
from distrl.imitation.pretraining import CURVE, SETTINGS, pretrain, save, unfinished


def test_pretraining_leaves_a_model_that_can_play(tmp_path: Path) -> None:
    seen: list[Progress] = []
    directory = tmp_path / "deep" / "model"
    curve = pretrain(SMALL, directory, sizes=SIZES, seen=seen.append)
    assert curve == seen
    assert [point.step for point in curve if point.validation is not None] == [2, 3]
    assert json.loads((directory / CURVE).read_text()) == [dataclasses.asdict(p) for p in curve]
    assert set(curve[-1].by_word) <= set(tokens())  # words, not their numbers
    assert json.loads((directory / SETTINGS).read_text()) == dataclasses.asdict(SMALL)
    policy = load_policy(directory, greedy=True)
    decisions = policy.decide([sample.observation for sample in samples("train", 2)])
    assert len(decisions) == 2
    assert policy.network.config.width == SIZES["width"]
    assert [child.name for child in directory.parent.iterdir()] == ["model"]  # nothing unfinished


@pytest.mark.slow
def test_a_run_that_ends_early_leaves_its_newest_model(tmp_path: Path) -> None:
    def killed(progress: Progress) -> None:
        if progress.validation is not None:
            raise KeyboardInterrupt

    directory = tmp_path / "model"
    with pytest.raises(KeyboardInterrupt):
        pretrain(SMALL, directory, sizes=SIZES, seen=killed)
    left = load_policy(unfinished(directory)).network
    began = new_pupil(SMALL.seed)
    pairs = zip(left.parameters(), began.parameters(), strict=True)
    assert any(not torch.equal(one, other.bfloat16().float()) for one, other in pairs)
    assert not any(directory.iterdir())


def test_what_is_saved_is_half_as_precise_and_readable_by_all(tmp_path: Path) -> None:
    pupil = new_pupil(3)
    wanted = {name: each.bfloat16().float() for name, each in pupil.named_parameters()}
    save(pupil, tmp_path / "model")
    network = load_policy(tmp_path / "model").network
    for name, each in network.named_parameters():
        assert torch.equal(each, wanted[name])
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o755
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "model").iterdir()} == {0o644}
    size = (tmp_path / "model" / "model.safetensors").stat().st_size
    assert size < 2.2 * sum(each.numel() for each in wanted.values())


@pytest.mark.slow
def test_a_saved_model_is_trained_further_with_its_encoder_frozen(tmp_path: Path) -> None:
    save(new_pupil(3), tmp_path / "first")
    again = dataclasses.replace(SMALL, freeze_encoder=True)
    pretrain(again, tmp_path / "second", start=tmp_path / "first")
    first = dict(load_policy(tmp_path / "first").network.named_parameters())
    second = dict(load_policy(tmp_path / "second").network.named_parameters())
    changed = {name for name in first if not torch.equal(first[name], second[name])}
    assert changed
    assert not any(name.startswith("encoder.") for name in changed)
    with pytest.raises(UsageError, match="no starter model to go on with"):
        pretrain(again, tmp_path / "third", start=tmp_path / "nowhere")


def test_a_directory_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        pretrain(SMALL, tmp_path, sizes=SIZES)
    assert [child.name for child in tmp_path.iterdir()] == ["precious"]


@pytest.mark.parametrize(
    ("device", "said"), [("gpu", "no device is called 'gpu'"), ("cuda", "GPU")]
)
def test_a_device_that_is_not_there_is_said_before_any_sample(
    device: str, said: str, tmp_path: Path
) -> None:
    if device == "cuda" and torch.cuda.device_count():
        pytest.skip("there is one")
    with pytest.raises(UsageError, match=said):
        pretrain(SMALL, tmp_path / "model", sizes=SIZES, device=device)
    assert not (tmp_path / "model").exists()
