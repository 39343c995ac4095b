"""A dataset of a run: rows with pictures and messages, and a card that counts them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.replay.made_up_trajectories import trajectory

from distrl.errors import UsageError
from distrl.records import Ending
from distrl.replay.store.dataset_directory import DATA, DatasetFacts, push, write_dataset

pq = pytest.importorskip("pyarrow.parquet")
FACTS = DatasetFacts("train-1", "0.1.0", "starter", "8 × simulated")


def test_rows_and_card(tmp_path: Path) -> None:
    lost = trajectory("b", screens=(3, 4), ending=Ending.DEVICE_LOST)
    assert write_dataset([trajectory("a", screens=(1, 2, 3)), lost], tmp_path, FACTS) == 2
    rows = pq.read_table(tmp_path / DATA).to_pylist()
    asked, answered = rows[1]["messages"]
    assert (asked["role"], answered["role"]) == ("user", "assistant")
    assert asked["content"].startswith(rows[1]["instruction"])
    assert rows[0]["action"] in asked["content"]  # what was done before
    assert rows[2]["messages"] is None  # nothing was decided on the last screen
    card = (tmp_path / "README.md").read_text("utf-8")
    front = yaml.safe_load(card.split("---")[1])
    [files] = front["configs"][0]["data_files"]
    assert (tmp_path / files["path"]).is_file()
    assert "2 episodes in 5 rows" in card
    assert "| device_lost | 1 |" in card


def test_a_name_that_the_hub_refuses_is_said(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    with pytest.raises(UsageError, match="give OWNER/NAME"):
        push(tmp_path, "no such name/with/parts")
