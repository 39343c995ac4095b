"""Fuzz targets for everything in DistRL that reads foreign bytes, as functions of bytes.

`fuzz_target` says what a target is; files of models, phones and tasks are in `fuzz_file_targets`,
requests of joined collectors in `fuzz_join_targets`. Where a reader checks a checksum, it is
recomputed after the mutation, so that the code behind the check is reached too.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL import Image

from benchmarks.fuzz_examples import (
    ACTIONS,
    IMAGE,
    LINES,
    made_up_heartbeat,
    made_up_trajectory,
)
from benchmarks.fuzz_file_targets import file_targets
from benchmarks.fuzz_join_targets import join_targets
from benchmarks.fuzz_target import Target
from distrl.agent.dialects import DIALECTS
from distrl.agent.export_directory import MANIFEST
from distrl.agent.policy_weights import read_manifest
from distrl.agent.prompt import Prompter
from distrl.agent.served_policy import ServedPolicy, ServedSampling
from distrl.agent.weight_view import view_weights
from distrl.chat.chat_server import ChatServer, ServerSettings
from distrl.config.toml_writer import to_toml
from distrl.config.training_config import TrainingConfig, load_config, load_run_config
from distrl.devices.adb.adb import read_properties, read_shell
from distrl.devices.adb.adb_socket import AdbSocket, Deadline
from distrl.devices.adb.android_state import read_focus
from distrl.devices.adb.screen_capture import read_framebuffer, read_png, read_raw
from distrl.devices.adb.uiautomator import read_hierarchy
from distrl.engine.ingest import messages
from distrl.engine.run.losses import read_home
from distrl.episodes.outcome_log import OutcomeLog
from distrl.json_lines import encode_line
from distrl.judging.judge_prompt import JudgePrompt
from distrl.judging.rate_budget import RateBudget
from distrl.judging.vlm_judge import JudgeCache, VlmJudge, VlmJudgeSettings
from distrl.learning import checkpoint
from distrl.records import (
    Ending,
    Observation,
    Screen,
    Tap,
    Verdict,
)  # fmt: skip
from distrl.replay.store.trajectory_database import Correction, decode_correction, encode_correction
from distrl.replay.trajectory_encoding import decode_trajectory, encode_trajectory
from distrl.reporting.run_story import read_story
from distrl.runs.run_directory import RunDirectory
from distrl.weights.weight_file import write_weights
from distrl.weights.weight_store import WeightStore


def targets(folder: Path) -> list[Target]:
    """Return all targets; files that they need are written below the folder."""
    return [
        *dialect_targets(),
        *server_targets(),
        *adb_targets(),
        *settings_targets(folder),
        *run_file_targets(folder),
        *weight_targets(folder),
        *message_targets(),
        *file_targets(folder),
    ]


# Answers of models --------------------------------------------------------------------------------


def dialect_targets() -> list[Target]:
    """Return targets for dialects, which never raise, whatever a model has written."""

    def reader(name: str) -> Callable[[bytes], object]:
        return lambda data: DIALECTS[name].read(data.decode("utf-8", "surrogateescape"), IMAGE)

    return [
        Target(
            f"dialect-{name}",
            [dialect.write(action, IMAGE).encode() for action in ACTIONS],
            reader(name),
            share=2.0,
        )
        for name, dialect in DIALECTS.items()
    ]


# Servers ------------------------------------------------------------------------------------------


def chat_reply(text: str, **more: Any) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **more}
    usage = {"prompt_tokens": 812, "completion_tokens": 31}
    return json.dumps({"model": "judge-3", "choices": [choice], "usage": usage}).encode()


def answering(data: bytes) -> ChatServer:
    """Return a server whose next answer is these bytes: status and Retry-After, then the body."""
    first, _, body = data.partition(b"\n")
    status, _, header = first.partition(b" ")
    code = int(status) if re.fullmatch(rb"[2-5][0-9][0-9]", status) else 200
    wait = header.decode("latin-1").replace("\r", "").replace("\0", "")
    response = httpx.Response(code, headers={b"Retry-After": wait.encode("latin-1")}, content=body)
    transport = httpx.MockTransport(lambda request: response)  # httpx's own: no socket is opened
    settings = ServerSettings("http://localhost:1/v1", tries=2)
    return ChatServer(settings, httpx.Client(transport=transport), wait=lambda seconds: True)


def server_targets() -> list[Target]:
    screen = Screen(np.zeros((16, 8, 3), np.uint8))
    trajectory = made_up_trajectory()
    judge_settings = VlmJudgeSettings(
        ServerSettings("http://localhost:1/v1"), "judge-3", readings=1
    )

    def judge(data: bytes) -> object:
        with answering(data) as server:
            parts = (server, JudgePrompt(), JudgeCache(), RateBudget())
            return VlmJudge(judge_settings, *parts).judge(trajectory)

    def decide(data: bytes) -> object:
        with answering(data) as server:
            prompter = Prompter(DIALECTS["android_world"])
            policy = ServedPolicy(
                server, prompter, ServedSampling(), model="policy-7", concurrency=1
            )
            try:
                return policy.decide([Observation("Do it", screen, ())])
            finally:
                policy.close()

    tokens = {"token_ids": [5, 6], "logprobs": {"content": [{"logprob": -0.5}, {"logprob": -1}]}}
    action = DIALECTS["android_world"].write(Tap(0.5, 0.5), IMAGE)
    verdicts = ("Reason: it is done.\nVerdict: success", "Verdict: failure", "I cannot tell")
    return [
        Target("judge", [b"200 \n" + chat_reply(each) for each in verdicts], judge, share=0.4),
        Target("served-policy", [b"200 \n" + chat_reply(action, **tokens)], decide, share=0.2),
        Target(
            "server-status",
            [b"429 3\n{}", b"503 Mon, 16 Nov 2026 07:00:00 GMT\n", b"404 \n{"],
            judge,
            share=0.3,
            whole=False,
        ),
    ]


# Phones -------------------------------------------------------------------------------------------


def adb_targets() -> list[Target]:
    def over_socket(read: Callable[[AdbSocket], object]) -> Callable[[bytes], object]:
        def reader(data: bytes) -> object:
            phone, here = socket.socketpair()
            with phone, AdbSocket(here, "phone", Deadline(5.0)) as connection:
                phone.sendall(data[: 1 << 16])
                phone.shutdown(socket.SHUT_WR)
                return read(connection)

        return reader

    def asked(connection: AdbSocket) -> object:
        connection.request("host:version")
        return connection.read_block()

    def framebuffer(connection: AdbSocket) -> object:
        return read_framebuffer(connection.read_exactly, "phone")

    picture = io.BytesIO()
    Image.new("RGB", (6, 4)).save(picture, "PNG")
    header = np.array([1, 32, 96, 6, 4, 0, 8, 16, 8, 8, 8, 24, 8], "<u4")
    raw = np.array([6, 4, 1, 0], "<u4").tobytes() + bytes(96)
    packets = b"\x01\x05\x00\x00\x00hello\x02\x03\x00\x00\x00err\x03\x01\x00\x00\x00\x00"
    node = '<node text="OK" class="android.widget.Button" package="a.b" bounds="[0,0][90,40]" />'
    dump = f"<?xml version='1.0'?><hierarchy rotation=\"0\">{node}</hierarchy>"
    focus = "mCurrentFocus=Window{1 u0 com.android.settings/com.android.settings.Settings}"
    return [
        Target("adb-request", [b"OKAY00040029", b"FAIL0009not found", b"OKAY"], over_socket(asked)),
        Target("adb-shell", [packets], over_socket(read_shell)),
        Target("adb-framebuffer", [header.tobytes() + bytes(96)], over_socket(framebuffer)),
        Target("adb-raw", [raw], lambda data: read_raw(data, "phone")),
        Target("adb-png", [picture.getvalue()], lambda data: read_png(data, "phone")),
        Target("adb-hierarchy", [dump.encode()], _text(lambda text: read_hierarchy(text, "phone"))),
        Target("adb-focus", [focus.encode()], _text(read_focus)),
        Target("adb-properties", [b"[ro.a]: [1]\n[b]: [two]\n"], _text(read_properties)),
    ]


def _text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(data.decode("utf-8", "replace"))


# Settings and files of a run ----------------------------------------------------------------------


def settings_targets(folder: Path) -> list[Target]:
    path = folder / "config.toml"

    def load(data: bytes) -> object:
        path.write_bytes(data)
        return load_config(path)

    def load_run(data: bytes) -> object:
        path.write_bytes(data)
        return load_run_config(path)

    def override(data: bytes) -> object:
        return load_config(None, [data.decode("utf-8", "replace")])

    short = (
        b'[run]\nname = "a"\n[devices]\ncount = 2\n[tasks]\ntemplates = ["clock.delete_alarm"]\n'
    )
    several = b"[run]\nseed = 1\n" + b"".join(
        b'[environments.%b]\nsettings = "quick_start"\ncollectors = 2\n'
        b"[environments.%b.devices]\ncount = 3\n" % (name, name)
        for name in (b"phone", b"other")
    )
    words = [b"replay.capacity=500", b"agent.policy.lora.rank=8", b'tasks.templates=["a"]']
    return [
        Target("toml", [short], load, share=0.4),
        Target("toml-environments", [several], load, share=0.1),
        Target("toml-of-a-run", [to_toml(TrainingConfig()).encode()], load_run, share=0.02),
        Target("set", words, override, share=0.2),
    ]


def run_file_targets(folder: Path) -> list[Target]:
    run = RunDirectory(folder / "run")
    run.path.mkdir(parents=True, exist_ok=True)

    def line_reader(name: str, read: Callable[[], object]) -> Callable[[bytes], object]:
        def reader(data: bytes) -> object:
            (run.path / name).write_bytes(data)
            try:
                return read()
            finally:
                (run.path / name).unlink()

        return reader

    def outcomes() -> object:
        with OutcomeLog.resumed(run.path / "outcomes.jsonl", {"seed": 0}) as log:
            return log.outcomes

    def cache() -> object:
        with JudgeCache(run.path / "judge_cache.jsonl") as opened:
            return opened

    def plain(name: str) -> list[bytes]:
        """Return the line with and without its checksum."""
        line = encode_line(LINES[name])
        return [line, line[:-21] + b"}\n"]

    readers = {name: line_reader(name, lambda: read_story(run)) for name in LINES}
    readers["learner.json"] = line_reader("learner.json", lambda: read_home(run))
    outcome = {"task": "clock.turn_off_alarm/test/0", "ending": "success", "steps": 3}
    outcome |= {"unreadable": 0, "weight_version": 1, "reason": "it is off"}
    log = encode_line({"settings": {"seed": 0}}) + encode_line(outcome)
    verdict = b'{"key":"k","judge":"j","success":true,"reason":"r"}\n'
    correction = encode_correction(Correction(Ending.FAILURE, Verdict(False, "no", "facts")))
    return [
        *(Target(f"run-{name}", plain(name), readers[name], share=0.5) for name in LINES),
        Target("outcomes", [log], line_reader("outcomes.jsonl", outcomes), share=0.5),
        Target("judge-cache", [verdict], line_reader("judge_cache.jsonl", cache), share=0.5),
        Target("trajectory", [encode_trajectory(made_up_trajectory())], _trajectory),
        Target("correction", [correction], decode_correction),
        checkpoint_target(folder / "checkpoint"),
    ]


def _trajectory(data: bytes) -> object:
    return decode_trajectory(data, verify=True)


def checkpoint_target(path: Path) -> Target:
    """Return a target for a state whose manifest fits it, as a faulty program would write."""
    state = {"learner": {"updates": 3, 7: (1, 2.5)}, "engine": {"w": np.zeros(3, np.float32)}}
    checkpoint.write_checkpoint(path, state)
    whole = (path / checkpoint.STATE).read_bytes()
    manifest = json.loads((path / checkpoint.MANIFEST).read_bytes())

    def read(data: bytes) -> object:
        (path / checkpoint.STATE).write_bytes(data)
        digest = hashlib.blake2b(data).hexdigest()
        manifest["files"][checkpoint.STATE] = {"bytes": len(data), "blake2b": digest}
        (path / checkpoint.MANIFEST).write_text(json.dumps(manifest))
        return checkpoint.read_checkpoint(path)

    return Target("checkpoint", [whole], read, share=0.2)


def weight_targets(folder: Path) -> list[Target]:
    file = folder / "weights.safetensors"
    file.unlink(missing_ok=True)
    weights: Mapping[str, Any] = {"a": np.zeros((2, 3), np.float32), "b": np.ones(4, np.int64)}
    write_weights(file, weights, {"version": "1"})
    store = WeightStore(folder / "weights", framework="np")
    store.publish(weights, 1)
    latest = (store.directory / "latest.json").read_bytes()
    policy = folder / "policy"
    policy.mkdir(exist_ok=True)
    manifest = {
        "format": "distrl policy", "format_version": 1, "kind": "whole", "weight_version": 1,
        "base_model": "m", "base_fingerprint": "f", "dialect": "compact", "past_actions": 4,
        "past_screens": 0, "lora": None, "critic": {}, "files": {},
    }  # fmt: skip

    def unpack(data: bytes) -> object:
        return view_weights(np.frombuffer(data, np.uint8))

    def announced(data: bytes) -> object:
        (store.directory / "latest.json").write_bytes(data)
        return WeightStore(store.directory, framework="np").load()

    def exported(data: bytes) -> object:
        (policy / MANIFEST).write_bytes(data)
        return read_manifest(policy)

    return [
        Target("weights", [file.read_bytes()], unpack),
        Target("weights-latest", [latest], announced, share=0.2),
        Target("policy-manifest", [json.dumps(manifest).encode()], exported, share=0.5),
    ]


# Processes and machines ---------------------------------------------------------------------------


def message_targets() -> list[Target]:
    examples: list[messages.Message] = [
        messages.Delivery(encode_trajectory(made_up_trajectory())),
        made_up_heartbeat(),
        messages.Encodings((("a", "b"),), b"parts"),
        messages.Received("c/1", True),
        messages.Refused("c/1", "full"),
        messages.Pace(3, (1, 2), 4),
        messages.Play(None, True),
        messages.Stop(1.5),
    ]
    return [
        Target("message", [messages.to_bytes(each) for each in examples], messages.from_bytes),
        *join_targets(),
    ]
