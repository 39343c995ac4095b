"""The card of a run says what it was made with, and what has changed since."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.engine.tiny_runs import tiny_config, write_model

from distrl.engine.run.run_card import FILE, RunCard, code_state, digest, note_card
from distrl.errors import CorruptLog, UsageError
from distrl.runs.run_directory import RunDirectory


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def card(tmp_path: Path, model: Path) -> RunCard:
    config = tiny_config(tmp_path, model, "run.seed=3")
    run = RunDirectory.new(tmp_path, "run", datetime(2026, 1, 1, tzinfo=UTC))
    run.write_config(config)
    note_card(config, run)
    return RunCard.read(run)


def test_it_is_read_as_it_was_written(card: RunCard) -> None:
    assert card.seed == 3
    assert card.packages["torch"]
    assert len(card.settings) == len(card.model) == 32
    assert card.differences(card) == []


def test_corpus_adapter_and_web_tasks_are_told_by_their_content(
    tmp_path: Path, model: Path
) -> None:
    corpus, adapter, pages = (tmp_path / name for name in ("corpus", "adapter", "pages.toml"))
    for file in (corpus / "episodes.bin", adapter / "adapter_config.json", pages):
        file.parent.mkdir(exist_ok=True)
        file.write_text("before", "utf-8")
    words = [
        f"learning.corpus={corpus}",
        f"agent.adapter={adapter}",
        "agent.policy.lora.rank=2",
        *("tasks.source=web", f"tasks.web_file={pages}", "devices.kind=browser"),
        *("judge.kind=page", "evaluation.before=0", "evaluation.after=0"),
    ]
    config = tiny_config(tmp_path, model, *words)
    run = RunDirectory.new(tmp_path, "run", datetime(2026, 1, 1, tzinfo=UTC))
    run.write_config(config)
    before = RunCard.of(config, run)
    assert set(before.data) == {"learning.corpus", "agent.adapter"}
    for file in (corpus / "episodes.bin", adapter / "adapter_config.json", pages):
        file.write_text("after!", "utf-8")  # as long
    changed = [each.partition(" ")[0] for each in before.differences(RunCard.of(config, run))]
    assert set(changed) == {"data.learning.corpus", "data.agent.adapter", f"task_files.{pages}"}


def test_the_card_of_an_older_version_can_be_read(card: RunCard, tmp_path: Path) -> None:
    """It names no data."""
    fields = dataclasses.asdict(card)
    del fields["data"]
    (tmp_path / FILE).write_text(json.dumps(fields), "utf-8")
    assert RunCard.read(RunDirectory(tmp_path)).data == {}


def test_what_has_changed_is_said(card: RunCard) -> None:
    packages = {**card.packages, "torch": "1.0"}
    other = dataclasses.replace(card, packages=packages, commit="abc", command=["else"])
    said = card.differences(other)
    assert f"packages.torch was {card.packages['torch']} and is 1.0" in said
    assert len(said) == 2


def test_a_run_without_one_is_told_from_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no card\.json"):
        RunCard.read(RunDirectory(tmp_path))
    (tmp_path / FILE).write_text('{"seed": "three"}', "utf-8")
    with pytest.raises(CorruptLog, match="cannot be read"):
        RunCard.read(RunDirectory(tmp_path))


def test_a_change_of_the_code_is_seen(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    assert code_state(tmp_path) == ("", None)
    (tmp_path / "code.py").write_text("1", "utf-8")
    git("init", "-q")
    git("add", "code.py")
    git("commit", "-qm", "first")
    commit, clean = code_state(tmp_path)
    assert (len(commit), clean) == (40, True)
    (tmp_path / "code.py").write_text("2", "utf-8")
    assert code_state(tmp_path) == (commit, False)


def test_a_digest_is_of_the_content(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    first = digest([file])
    file.write_bytes(b"two")
    assert digest([file]) != first
    assert digest([file], whole_bytes=2) == digest([file], whole_bytes=0)  # of its size alone
