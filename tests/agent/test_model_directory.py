"""Models that cannot be opened, each with one clear error; what can be chosen about the rest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.agent.made_up_screens import SHORT, blocks
from tests.agent.tiny_models import (
    BUILDERS,
    QWEN_TOKENS,
    change_json,
    qwen_vl,
    tiny_model,
    tiny_tokenizer,
)
from transformers import AutoImageProcessor

from distrl.agent import model_directory
from distrl.agent.dialects.dialect import ImageSize
from distrl.agent.model_directory import open_model
from distrl.errors import (
    CorruptModel,
    MissingTokens,
    NotAModel,
    UnknownModelFamily,
    UnusableModel,
)


@pytest.fixture
def qwen(tmp_path: Path) -> Path:
    """A good model, to be spoiled."""
    return Path(shutil.copytree(tiny_model("qwen2_5_vl"), tmp_path / "qwen"))


def refusal(model: str | Path, **choices: Any) -> tuple[type[UnusableModel], str]:
    with pytest.raises(UnusableModel) as caught:
        open_model(model, **choices)
    return caught.type, str(caught.value)


# No model ----------------------------------------------------------------------------------------


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    kind, message = refusal(tmp_path / "nowhere")
    assert kind is NotAModel
    assert f"there is no directory {tmp_path / 'nowhere'}" in message
    assert "Qwen/Qwen2.5-VL-3B-Instruct" in message  # what an id looks like


def test_a_run_that_has_no_policy_yet(tmp_path: Path) -> None:
    """Its last script line is `evaluate(run.policy)`: the run that made no update says so."""
    for name in ("config.toml", "metrics.jsonl"):
        (tmp_path / name).touch()
    for given in (tmp_path, tmp_path / "policy"):
        kind, message = refusal(given)
        assert kind is NotAModel
        assert f"the run {tmp_path} has no trained policy yet" in message
        assert f"distrl train --resume {tmp_path}" in message


def test_a_directory_without_a_model(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").touch()
    kind, message = refusal(tmp_path)
    assert kind is NotAModel
    assert "has no config.json (it has holiday.jpg)" in message


def test_a_file_of_a_model(qwen: Path) -> None:
    kind, message = refusal(qwen / "model.safetensors")
    assert kind is NotAModel
    assert "is a file; a model is the directory" in message


@pytest.mark.parametrize(
    "content",
    ["{", "[1, 2]", '{"model_type": "qwen2_5_vl", "text_config": 3}', '{"a":' + "[" * 100_000],
    ids=["cut", "a_list", "a_number", "deep"],
)
def test_a_config_that_makes_no_sense(qwen: Path, content: str) -> None:
    (qwen / "config.json").write_text(content)
    kind, message = refusal(qwen)
    assert kind is NotAModel
    assert "config.json" in message


@pytest.mark.parametrize(
    "name", ["preprocessor_config.json", "chat_template.json", "generation_config.json"]
)
@pytest.mark.parametrize("content", ["{", "[1, 2]", "[" * 100_000], ids=["cut", "a_list", "deep"])
def test_other_settings_that_make_no_sense(qwen: Path, name: str, content: str) -> None:
    (qwen / name).write_text(content)
    kind, message = refusal(qwen)
    assert kind is NotAModel
    assert name in message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", "{"),
        ("tokenizer.json", '"text"'),
        ("tokenizer.json", '{"a":' + "[" * 100_000),
        ("tokenizer_config.json", '{"extra_special_tokens": 7}'),
        ("added_tokens.json", "[1, 2]"),
        ("chat_template.jinja", "{{" + "(" * 2000),
        ("preprocessor_config.json", '{"image_mean": ["x", 0, 0]}'),
    ],
)
def test_a_tokenizer_a_template_or_pictures_that_make_no_sense(
    qwen: Path, name: str, content: str
) -> None:
    """Whatever their readers raise: tokenizers has no error of its own."""
    (qwen / name).write_text(content)
    kind, message = refusal(qwen)
    assert issubclass(kind, UnusableModel)
    assert str(qwen) in message


def test_a_tokenizer_of_unreasonable_size(qwen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_directory, "MAX_SETTINGS", 2**14)
    (qwen / "tokenizer.json").write_bytes(b" " * 2**15)
    assert "tokenizer.json cannot be read: it has more than 16,384 bytes" in refusal(qwen)[1]


def test_settings_of_unreasonable_size(qwen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_directory, "MAX_SETTINGS", 10)
    assert "has more than 10 bytes" in refusal(qwen)[1]


def test_an_adapter_in_place_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "Qwen/big"}')
    kind, message = refusal(tmp_path)
    assert kind is NotAModel
    assert "holds an adapter, not a model: it goes onto Qwen/big" in message


def test_an_id_that_the_hub_does_not_give(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    kind, message = refusal("nobody/no-such-model")
    assert kind is NotAModel
    assert "the hub gave no model of that id" in message


def test_an_id_that_was_downloaded_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commit = "a" * 40
    stored = tmp_path / "models--somebody--tiny"
    shutil.copytree(tiny_model("internvl"), stored / "snapshots" / commit)
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    opened = open_model("somebody/tiny")
    assert opened.family.name == "InternVL"
    assert opened.directory == stored / "snapshots" / commit


# Another family ----------------------------------------------------------------------------------


def test_a_family_that_we_do_not_know(qwen: Path) -> None:
    change_json(qwen / "config.json", model_type="hubert")
    kind, message = refusal(qwen)
    assert kind is UnknownModelFamily
    assert "'hubert'" in message
    assert "code of its own" not in message
    for model_type in BUILDERS:
        assert model_type in message


def test_a_model_that_brings_code(qwen: Path) -> None:
    changes = {"model_type": "internvl_chat", "auto_map": {"AutoModel": "modeling.py--M"}}
    change_json(qwen / "config.json", **changes)
    (qwen / "modeling.py").write_text("raise SystemExit('ran')")
    kind, message = refusal(qwen)
    assert kind is UnknownModelFamily
    assert "code of its own, which is never done here" in message
    assert "-hf" in message


def test_code_beside_a_known_family_is_not_run(qwen: Path) -> None:
    change_json(qwen / "config.json", auto_map={"AutoConfig": "modeling.py--C"})
    (qwen / "modeling.py").write_text("raise SystemExit('ran')")
    assert open_model(qwen).family.name == "Qwen2-VL and Qwen2.5-VL"


# Tokens ------------------------------------------------------------------------------------------


def test_a_tokenizer_without_the_image_token(qwen: Path) -> None:
    kept = tuple(token for token in QWEN_TOKENS if "image" not in token and "start" not in token)
    tiny_tokenizer(kept, eos_token="<|im_end|>").save_pretrained(qwen)
    kind, message = refusal(qwen)
    assert kind is MissingTokens
    assert "has no <|vision_start|>, which a 'qwen2_5_vl' model needs" in message
    assert "copy tokenizer.json" in message


def test_a_tokenizer_of_another_model(qwen: Path) -> None:
    moved = ("<|something|>", *QWEN_TOKENS)
    tiny_tokenizer(moved, eos_token="<|im_end|>").save_pretrained(qwen)
    kind, message = refusal(qwen)
    assert kind is MissingTokens
    assert "<|image_pad|> as number 6, but config.json says image_token_id=5" in message


def test_more_tokens_than_embeddings(qwen: Path) -> None:
    many = (*QWEN_TOKENS, *(f"<{number}>" for number in range(99)))
    tokenizer = tiny_tokenizer(QWEN_TOKENS, eos_token="<|im_end|>")
    tokenizer.add_tokens(list(many))
    tokenizer.save_pretrained(qwen)
    kind, message = refusal(qwen)
    assert kind is MissingTokens
    assert "has 499 tokens, but the model has embeddings for 400" in message


def test_no_end_token(qwen: Path) -> None:
    tokenizer = tiny_tokenizer(QWEN_TOKENS)
    tokenizer.save_pretrained(qwen)
    (qwen / "chat_template.jinja").unlink(missing_ok=True)
    (qwen / "generation_config.json").unlink()
    kind, message = refusal(qwen)
    assert kind is MissingTokens
    assert "no answer would ever end; set eos_token" in message


def test_no_tokenizer(qwen: Path) -> None:
    for file in (*qwen.glob("tokenizer*"), *qwen.glob("special*")):
        file.unlink()
    kind, message = refusal(qwen)
    assert kind is MissingTokens
    assert "copy tokenizer.json" in message


def test_no_image_processor(qwen: Path) -> None:
    (qwen / "preprocessor_config.json").unlink()
    kind, message = refusal(qwen)
    assert kind is NotAModel
    assert "has no preprocessor_config.json or processor_config.json" in message


# Weights -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [0, 5, 2000, -1])
def test_weights_that_were_cut_off(qwen: Path, kept: int) -> None:
    file = qwen / "model.safetensors"
    file.write_bytes(file.read_bytes()[:kept])
    kind, message = refusal(qwen)
    assert kind is CorruptModel
    assert f"{file} is damaged or was cut off ({file.stat().st_size:,} bytes" in message


def test_weights_that_are_none(qwen: Path) -> None:
    (qwen / "model.safetensors").write_bytes(b"\xff" * 5000)
    kind, message = refusal(qwen)
    assert kind is CorruptModel
    assert "is damaged" in message


def shards(directory: Path) -> list[Path]:
    """A model in several files, as large ones are."""
    qwen_vl("2.5")[0].save_pretrained(directory, max_shard_size="200KB")
    (directory / "model.safetensors").unlink(missing_ok=True)
    return sorted(directory.glob("model-*.safetensors"))


def test_weights_in_several_files(qwen: Path) -> None:
    assert len(shards(qwen)) > 2
    assert open_model(qwen).model.config.model_type == "qwen2_5_vl"


def test_a_missing_shard(qwen: Path) -> None:
    lost = shards(qwen)[1]
    lost.unlink()
    kind, message = refusal(qwen)
    assert kind is CorruptModel
    assert f"lacks {lost.name}, which its model.safetensors.index.json lists" in message


def test_an_index_may_not_point_outside(qwen: Path, tmp_path: Path) -> None:
    shard = shards(qwen)[0]
    index = qwen / "model.safetensors.index.json"
    listed = json.loads(index.read_text())
    listed["weight_map"] = {
        name: f"../{file}" if file == shard.name else file
        for name, file in listed["weight_map"].items()
    }
    index.write_text(json.dumps(listed))
    shard.rename(tmp_path / shard.name)
    kind, message = refusal(qwen)
    assert kind is CorruptModel
    assert f"points to ../{shard.name}, outside the model" in message


def test_pickled_weights_are_never_loaded(qwen: Path) -> None:
    (qwen / "model.safetensors").rename(qwen / "pytorch_model.bin")
    kind, message = refusal(qwen)
    assert kind is CorruptModel
    assert "has pytorch_model.bin, which could run code" in message


def test_weights_of_another_size(qwen: Path) -> None:
    weights = load_file(qwen / "model.safetensors")
    name = next(each for each in weights if each.endswith("q_proj.weight"))
    weights[name] = torch.zeros(3, 3)
    save_file(weights, qwen / "model.safetensors", metadata={"format": "pt"})
    kind, message = refusal(qwen)
    assert kind is CorruptModel
    assert "q_proj.weight" in message


def test_a_weight_that_is_missing_is_not_left_to_chance(qwen: Path) -> None:
    weights = load_file(qwen / "model.safetensors")
    del weights[next(each for each in weights if each.endswith("q_proj.weight"))]
    save_file(weights, qwen / "model.safetensors", metadata={"format": "pt"})
    kind, message = refusal(qwen)
    assert kind is CorruptModel
    assert "q_proj.weight are missing or of another shape" in message


# Choices -----------------------------------------------------------------------------------------


def test_float32_on_a_cpu_whatever_it_was_saved_in(qwen: Path) -> None:
    qwen_vl("2.5")[0].to(torch.bfloat16).save_pretrained(qwen)
    assert open_model(qwen).model.dtype == torch.float32
    assert open_model(qwen, dtype=torch.float64).model.dtype == torch.float64


@pytest.mark.parametrize(
    ("model_type", "sizes", "seen"),
    [
        ("qwen2_5_vl", {"min_pixels": 1, "max_pixels": 28 * 28 * 8}, ImageSize(56, 112)),
        ("qwen2_5_vl", {"min_pixels": 40000, "max_pixels": 80000}, ImageSize(168, 308)),
        ("qwen2_5_vl", {"min_pixels": 1, "max_pixels": 1}, ImageSize(28, 28)),
        ("idefics3", {"size": {"longest_edge": 56}}, ImageSize(56, 56)),
        ("idefics3", {}, ImageSize(56, 112)),
        ("internvl", {"max_patches": 2}, ImageSize(56, 112)),
        ("internvl", {"max_patches": 1}, ImageSize(56, 56)),
        ("internvl", {"min_patches": 18, "max_patches": 18}, ImageSize(168, 336)),
    ],
)
def test_how_large_pictures_are_seen(
    model_type: str, sizes: dict[str, Any], seen: ImageSize, tmp_path: Path
) -> None:
    """As the model's own image processor is set."""
    directory = Path(shutil.copytree(tiny_model(model_type), tmp_path / "model"))
    processor: Any = AutoImageProcessor.from_pretrained(  # type: ignore[no-untyped-call]
        directory, backend="pil"
    )
    type(processor)(**{**processor.to_dict(), **sizes}).save_pretrained(directory)
    builder = open_model(directory).input_builder
    assert builder.seen_size(blocks(1)) == seen
    assert builder.build([SHORT]).image_sizes == (seen,)
