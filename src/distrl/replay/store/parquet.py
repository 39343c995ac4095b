"""Export of trajectories, screens included, as a Parquet file: `distrl export`.

One row for each screen, in order: the instruction, the screen as PNG, the decision on it, and how
the episode ended. The last screen of a trajectory has a row too, without a decision. The columns
`trajectory_id` and `step` reassemble a trajectory; `action` is JSON, with its type under "kind";
`messages` is the step as a chat, for supervised fine-tuning.

The file's metadata declares which column is an image, so that Hugging Face's `datasets` decodes it:
`load_dataset("parquet", data_files=…)`. Images are in the struct {bytes, path} that it uses. Rows
are written a few at a time, so memory stays bounded however long the file gets, and an unfinished
file is removed. Needs pyarrow (the extra `data`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from distrl.errors import NotInstalled, storage_error
from distrl.output_file import prepare_output_file
from distrl.records import Action, Decision, Screen, Trajectory

ROWS_AT_ONCE = 100  # also the row group size: what a viewer must load to show one row
Row = dict[str, Any]

# Columns and their types; a star means a list.
COLUMNS = (
    ("trajectory_id", "string"),
    ("step", "int32"),
    ("task_id", "string"),
    ("template", "string"),
    ("family", "string"),
    ("split", "string"),
    ("difficulty", "string"),
    ("instruction", "string"),
    ("image", "image"),
    ("messages", "messages"),
    ("action", "string"),
    ("text", "string"),
    ("token_ids", "int64*"),
    ("log_probs", "float64*"),
    ("weight_version", "int64"),
    ("last", "bool"),
    ("steps", "int32"),
    ("ending", "string"),
    ("success", "bool"),
    ("judge", "string"),
    ("reason", "string"),
    ("device_seconds", "float64"),
    ("notes", "string*"),
)


def export_parquet(trajectories: Iterable[Trajectory], path: Path) -> int:
    """Write the trajectories to a Parquet file, replacing it; return its number of rows."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise NotInstalled(
            f"{path}: Parquet files need pyarrow; pip install 'distrl[data]'"
        ) from error
    prepare_output_file(path, "trajectories.parquet")
    unfinished = path.with_name(f".unfinished-{path.name}")
    written = 0
    try:
        with pq.ParquetWriter(unfinished, _schema(pa), compression="zstd") as file:
            rows = (row for trajectory in trajectories for row in _rows(trajectory))
            while some := list(islice(rows, ROWS_AT_ONCE)):
                file.write_table(pa.Table.from_pylist(some, file.schema))
                written += len(some)
        unfinished.replace(path)
    except OSError as error:
        raise storage_error(error, f"could not export trajectories to {path}") from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)  # already renamed on success
    return written


# Rows ---------------------------------------------------------------------------------------------


def _rows(trajectory: Trajectory) -> Iterator[Row]:
    """Yield a row for each screen: its decision, and the columns of the whole trajectory."""
    task, verdict = trajectory.task, trajectory.verdict
    of_all = {
        "trajectory_id": utf8_text(trajectory.id),
        "task_id": utf8_text(task.id),
        "template": utf8_text(task.template),
        "family": task.family,
        "split": task.split,
        "difficulty": task.difficulty,
        "instruction": utf8_text(task.instruction),
        "steps": len(trajectory.decisions),
        "ending": trajectory.ending.value,
        "success": None if verdict is None else verdict.success,
        "judge": None if verdict is None else utf8_text(verdict.judge),
        "reason": None if verdict is None else utf8_text(verdict.reason),
        "device_seconds": trajectory.device_seconds,
        "notes": [utf8_text(note) for note in trajectory.notes],
    }
    for step, screen in enumerate(trajectory.screens):
        last = step == len(trajectory.decisions)
        decided = {} if last else _decision(trajectory.decisions[step])
        image = {"bytes": png_bytes(screen), "path": f"{step:03d}.png"}
        yield (
            of_all
            | decided
            | {"step": step, "last": last, "image": image}
            | {"messages": None if last else _messages(trajectory, step)}
        )


def _messages(trajectory: Trajectory, step: int) -> list[Row]:
    """Return the step as a chat: the instruction with all earlier actions, and the answer."""
    before = [action_json(each.action) for each in trajectory.decisions[:step]]
    done = "\n".join(["", "Done so far:", *before]) if before else ""
    decision = trajectory.decisions[step]
    answer = decision.text or action_json(decision.action)
    asked = f"{trajectory.task.instruction}{done}"
    return [
        {"role": "user", "content": utf8_text(asked)},
        {"role": "assistant", "content": utf8_text(answer)},
    ]


def _decision(decision: Decision) -> Row:
    return {
        "action": action_json(decision.action),
        "text": utf8_text(decision.text),
        "token_ids": [int(token) for token in decision.token_ids],
        "log_probs": [float(log_prob) for log_prob in decision.log_probs],
        "weight_version": int(decision.weight_version),
    }


def action_json(action: Action) -> str:
    return json.dumps({"kind": type(action).__name__} | asdict(action))


def png_bytes(screen: Screen) -> bytes:
    file = io.BytesIO()
    Image.fromarray(screen.pixels).save(file, "PNG")
    return file.getvalue()


def utf8_text(text: str) -> str:
    """Escape lone surrogates, which the UTF-8 strings of Parquet cannot hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


# Columns ------------------------------------------------------------------------------------------


def _schema(pa: Any) -> Any:
    """Return the pyarrow schema, with the features for `datasets` in its metadata."""
    kinds = {
        "string": pa.string(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
        "image": pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
        "messages": pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())])),
    }
    columns = []
    for name, kind in COLUMNS:
        of_each = kinds[kind.rstrip("*")]
        columns.append((name, pa.list_(of_each) if kind.endswith("*") else of_each))
    features = {name: _feature(kind) for name, kind in COLUMNS}
    return pa.schema(columns, {"huggingface": json.dumps({"info": {"features": features}})})


def _feature(kind: str) -> Row | list[Row]:
    if kind == "messages":
        return [{"role": _feature("string"), "content": _feature("string")}]
    if kind.endswith("*"):
        # Newer versions of `datasets` write List but still read this; older ones read only this.
        return {"feature": _feature(kind[:-1]), "_type": "Sequence"}
    return {"_type": "Image"} if kind == "image" else {"dtype": kind, "_type": "Value"}
