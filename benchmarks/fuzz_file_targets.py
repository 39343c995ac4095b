"""Fuzz targets for files and answers that are read before or beside a run (`make fuzz`).

The files of a model's directory, the TOML of consent, of web tasks and of a judge's examples, the
leases of phones, results for a leaderboard, and what an AndroidWorld container answers.
`fuzz_targets` has the rest; `fuzz_target` says what a target is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from benchmarks.fuzz_target import Target
from benchmarks.train_runs import tiny_model
from distrl.agent.model_directory import known_family, open_inputs, read_config
from distrl.devices.adb import phone_leases
from distrl.devices.safety.safety import SENTENCE, consent_path, read_consent
from distrl.engine import adb_wiring
from distrl.engine.join.join_sessions import read_members
from distrl.judging.judge_prompt import read_examples
from distrl.reporting.leaderboard import FORMAT_VERSION, RESULT, markdown, ranked, read_result
from distrl.runs.checked_json import to_checked_json
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_progress import MEMBERS
from distrl.task_sets.android_world_container import AndroidWorldContainer
from distrl.task_sets.web_tasks import load_web_tasks

SERIAL = "R58M123"
CONSENT = f"""serial = "{SERIAL}"
owner = "Ada"
sentence = "{SENTENCE}"
apps = ["com.android.settings", "com.distrl.notes"]
"""
WEB_TASKS = """[[task]]
name = "agree"
url = "http://127.0.0.1:8000/form?a=1"
instruction = "Agree to it."
split = "test"
step_limit = 7
done = "document.title == 'done'"
"""
EXAMPLES = """[[example]]
instruction = "Set an alarm for 7:30"
actions = ["opened the app Clock", "tapped at 50 % across, 88 % down"]
seen = "The list of alarms"
thoughts = "An alarm for 7:30 should be in the list. It is."
success = true
"""
MODEL: dict[str, Any] = {
    "model_type": "qwen2_5_vl",
    "architectures": ["Qwen2_5_VLForConditionalGeneration"],
}
MODEL |= {"hidden_size": 64, "vision_config": {"depth": 2}, "rope_scaling": {"type": "mrope"}}
ADAPTER = {"base_model_name_or_path": "some/model", "peft_type": "LORA", "r": 8}


def file_targets(folder: Path) -> list[Target]:
    """Return all of these targets; files that they need are written below the folder."""
    return [
        *toml_targets(folder),
        *model_targets(folder / "model"),
        *tokenizer_targets(folder / "tiny"),
        *json_targets(folder),
        *container_targets(),
    ]


def written_to(path: Path, read: Callable[[], object]) -> Callable[[bytes], object]:
    path.parent.mkdir(parents=True, exist_ok=True)

    def reader(data: bytes) -> object:
        path.write_bytes(data)
        try:
            return read()
        finally:
            path.unlink()

    return reader


def toml_targets(folder: Path) -> list[Target]:
    tasks, examples, consents = folder / "tasks.toml", folder / "judge.toml", folder / "consent"

    def consent() -> object:
        os.environ["DISTRL_CONSENT"] = str(consents)
        try:
            return read_consent(SERIAL)
        finally:
            del os.environ["DISTRL_CONSENT"]

    own = consents / consent_path(SERIAL).name
    return [
        Target("consent", [CONSENT.encode()], written_to(own, consent)),
        Target("web-tasks", [WEB_TASKS.encode()], written_to(tasks, lambda: load_web_tasks(tasks))),
        Target(
            "judge-examples",
            [EXAMPLES.encode()],
            written_to(examples, lambda: read_examples(examples)),
        ),
    ]


def model_targets(folder: Path) -> list[Target]:
    """Return targets for a model's `config.json` as transformers reads it, and an adapter's."""
    config = folder / "whole" / "config.json"
    adapter = folder / "adapter" / "adapter_config.json"
    config.parent.mkdir(parents=True, exist_ok=True)
    return [
        Target("model-family", [json.dumps(MODEL).encode()],
               written_to(config, lambda: known_family(config.parent)), share=0.5),
        Target("model-config", [json.dumps(MODEL).encode()],
               written_to(config, lambda: read_config(config.parent)), share=0.05),
        Target("model-adapter", [json.dumps(ADAPTER).encode()],
               written_to(adapter, lambda: known_family(adapter.parent)), share=0.5, whole=False),
    ]  # fmt: skip


def tokenizer_targets(folder: Path) -> list[Target]:
    """Return targets for tokenizer files, whose third-party readers may raise any error."""
    model = tiny_model(folder)
    names = ("tokenizer.json", "tokenizer_config.json")
    found = {name: (model / name).read_bytes() for name in names}

    def reader(name: str) -> Callable[[bytes], object]:
        def read(data: bytes) -> object:
            (model / name).write_bytes(data)
            try:
                return open_inputs(model)
            finally:
                (model / name).write_bytes(found[name])

        return read

    return [
        Target(f"model-{name}", [content], reader(name), share=0.02)
        for name, content in found.items()
    ]


def json_targets(folder: Path) -> list[Target]:
    """Return targets for phone leases, a run's phones, its members, and foreign results."""
    run, path = RunDirectory(folder / "leased"), folder / "result.json"
    members = {"run": "0" * 32, "numbers": {"a" * 32: 1000}}
    leased = {"pid": 1, "folder": "/runs/one", "command": "distrl train"}
    phones = to_checked_json({"phone-0": SERIAL, "phone-1": "emulator-5554"})
    task, judged = "clock.turn_off_alarm/test/0", ("success", "device_lost")
    result = {
        "format": RESULT, "version": FORMAT_VERSION, "model": "m", "date": "2026-11-18",
        "distrl": "1.0", "seed": 0, "greedy": True, "temperature": None, "dialect": None,
        "tasks_digest": "0" * 32, "screens_digest": "1" * 32, "tasks": [task, f"{task}1"],
        "endings": judged, "steps": [3, 9], "unreadable": [0, 1], "progress": [1.0, None],
    }  # fmt: skip

    def ranked_beside_itself() -> object:
        return markdown(ranked({path: read_result(path)}))

    def lease() -> object:
        return phone_leases._read(run.path / "lease")

    return [
        Target("phones", [phones.encode()],
               written_to(run.phones, lambda: adb_wiring._read(run.path)), share=0.5),
        Target("lease", [json.dumps(leased).encode()],
               written_to(run.path / "lease", lease), share=0.5),
        Target("members", [json.dumps(members).encode()],
               written_to(run.path / MEMBERS, lambda: read_members(run.path / MEMBERS)), share=0.5),
        Target("result", [json.dumps(result).encode()],
               written_to(path, ranked_beside_itself), share=0.5),
    ]  # fmt: skip


def container_targets() -> list[Target]:
    def answering(ask: Callable[[AndroidWorldContainer], object]) -> Callable[[bytes], object]:
        def reader(data: bytes) -> object:
            transport = httpx.MockTransport(lambda request: httpx.Response(200, content=data))
            client = httpx.Client(transport=transport, base_url="http://localhost:1")
            host = AndroidWorldContainer("http://localhost:1", client, 5.0, 5.0)
            try:
                return ask(host)
            finally:
                host.close()

        return reader

    asked: dict[str, tuple[bytes, Callable[[AndroidWorldContainer], object]]] = {
        "tasks": (b'{"task_list": ["A", "B"]}', lambda host: host.task_types()),
        "length": (b'{"length": 3}', lambda host: host.combinations("A")),
        "goal": (b'{"goal": "Do it."}', lambda host: host.goal("A", 0)),
        "score": (b'{"score": 0.5}', lambda host: host.score("A", 0)),
        "pixels": (b'{"pixels": [[[1, 2, 3], [4, 5, 6]]]}', lambda host: host.pixels()),
    }
    return [
        Target(f"container-{name}", [example], answering(ask), share=0.3)
        for name, (example, ask) in asked.items()
    ]
