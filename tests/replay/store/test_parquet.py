"""An exported file has a row for each screen, and tells `datasets` which column is a picture."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.replay.made_up_trajectories import trajectory

from distrl.episodes.demonstrations import demonstrate
from distrl.errors import NotInstalled, StorageError, UsageError
from distrl.records import Decision, Ending, Tap, Trajectory, TypeText
from distrl.replay.store.parquet import COLUMNS, ROWS_AT_ONCE, export_parquet
from distrl.replay.store.trajectory_store import TrajectoryStore
from phonesim.simulated_device import SimulatedDevice
from phonesim.tasks.task_sets import load_task

pq = pytest.importorskip("pyarrow.parquet")


def rows_of(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def pixels_of(row: dict[str, Any]) -> Any:
    return np.asarray(Image.open(io.BytesIO(row["image"]["bytes"])))


def test_trajectories_of_a_store_as_a_file(tmp_path: Path) -> None:
    played = demonstrate(load_task("notes.create/train/3")[0], SimulatedDevice("x"))
    with TrajectoryStore(tmp_path / "store") as store:
        store.append_all([played, trajectory("b", screens=(1, 2, 3), ending=Ending.DEVICE_LOST)])
        stored = (each.trajectory for each in store.read())
        written = export_parquet(stored, tmp_path / "new" / "out.parquet")
    rows = rows_of(tmp_path / "new" / "out.parquet")
    assert written == len(rows) == len(played.screens) + 3
    for step, (row, screen) in enumerate(zip(rows, played.screens, strict=False)):
        assert (row["trajectory_id"], row["step"]) == (played.id, step)
        assert row["instruction"] == played.task.instruction
        assert (row["success"], row["ending"]) == (True, "success")
        np.testing.assert_array_equal(pixels_of(row), screen.pixels)
    last = len(played.decisions)
    assert [row["last"] for row in rows[: last + 1]] == [False] * last + [True]
    assert [row["success"] for row in rows[-3:]] == [None] * 3
    assert rows[-1]["ending"] == "device_lost"
    assert rows[-1]["action"] is rows[-1]["token_ids"] is None


def test_decisions_keep_their_tokens_and_odd_text_is_no_obstacle(tmp_path: Path) -> None:
    decisions = (
        Decision(Tap(0.25, 1.0), "tap", (7, 2**40), (-0.125, float("-inf")), 12),
        Decision(TypeText("naïve \ud800 🙂"), "\udfff"),
    )
    odd = replace(trajectory("\ud83d", screens=(0, 1, 2)), decisions=decisions, notes=("a", "ü"))
    export_parquet([odd], tmp_path / "out.parquet")
    first, second, _ = rows_of(tmp_path / "out.parquet")
    assert json.loads(first["action"]) == {"kind": "Tap", "x": 0.25, "y": 1.0}
    assert (first["token_ids"], first["weight_version"]) == ([7, 2**40], 12)
    assert first["log_probs"] == [-0.125, float("-inf")]
    assert json.loads(second["action"])["text"] == "naïve \ud800 🙂"
    assert (second["text"], second["trajectory_id"]) == ("\\udfff", "\\ud83d")
    assert second["notes"] == ["a", "ü"]


def test_the_file_says_what_its_columns_are(tmp_path: Path) -> None:
    export_parquet([trajectory("a")], tmp_path / "out.parquet")
    schema = pq.read_schema(tmp_path / "out.parquet")
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert list(features) == schema.names == [name for name, _ in COLUMNS]
    assert features["image"] == {"_type": "Image"}
    assert str(schema.field("image").type) == "struct<bytes: binary, path: string>"
    tokens = {"feature": {"dtype": "int64", "_type": "Value"}, "_type": "Sequence"}
    assert features["token_ids"] == tokens


def test_datasets_shows_the_pictures(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    export_parquet([trajectory("a", screens=(1, 2))], tmp_path / "out.parquet")
    loaded = datasets.load_dataset(
        "parquet",
        data_files=str(tmp_path / "out.parquet"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert (loaded[0]["image"].size, loaded[1]["last"]) == ((8, 12), True)


def test_many_rows_go_into_groups(tmp_path: Path) -> None:
    n = ROWS_AT_ONCE
    many = (trajectory(str(number), screens=(number, number)) for number in range(n))
    assert export_parquet(many, tmp_path / "out.parquet") == 2 * n
    assert pq.read_metadata(tmp_path / "out.parquet").num_row_groups == 2
    assert [row["trajectory_id"] for row in rows_of(tmp_path / "out.parquet")[::2]] == [
        str(number) for number in range(n)
    ]


def test_nothing_exported_is_an_empty_table(tmp_path: Path) -> None:
    assert export_parquet([], tmp_path / "out.parquet") == 0
    assert rows_of(tmp_path / "out.parquet") == []


def test_an_export_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def failing() -> Iterator[Trajectory]:
        yield trajectory("b")
        raise RuntimeError("out of trajectories")

    export_parquet([trajectory("a")], tmp_path / "out.parquet")
    with pytest.raises(RuntimeError):
        export_parquet(failing(), tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]
    assert rows_of(tmp_path / "out.parquet")[0]["trajectory_id"] == "a"
    with pytest.raises(StorageError, match="making the folder of"):
        export_parquet([], tmp_path / "out.parquet" / "below a file")


def test_a_folder_is_no_file_to_export_to(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is a folder; name a file in it, such as .*\.parquet"):
        export_parquet([], tmp_path)
    with pytest.raises(UsageError, match="is a folder"):
        export_parquet([], Path())


def test_without_pyarrow_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NotInstalled, match=r"distrl\[data\]"):
        export_parquet([], tmp_path / "out.parquet")
