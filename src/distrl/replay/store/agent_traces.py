"""Export of trajectories in two third-party formats: `distrl export --atif` and `--sessions`.

- ATIF (Agent Trajectory Interchange Format, Harbor's RFC 0001, version 1.6): a JSON file for each
  trajectory, with tool calls, screens as pictures, token ids and log-probabilities.
- The session traces of the Hugging Face hub (STS-Format): a JSONL file for each, a header and then
  messages. Its viewer shows only text, so a screen is represented by the name of its picture.

Both store pictures in `images/` beside them, named by content, each once. An action is a tool call
(`tap`, `type_text`, …); an unreadable answer is a message without one. No library writes these
formats; the package `atif` has models for reading, and our files were checked against them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from distrl.errors import storage_error
from distrl.records import Action, Decision, Screen, Trajectory, Unreadable
from distrl.replay.store.parquet import png_bytes, utf8_text

ATIF = "ATIF-v1.6"
HARNESS = "distrl"
IMAGES = "images"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TracedAgent:
    """The agent that played, as both formats describe it."""

    model: str
    version: str  # of DistRL


def export_atif(trajectories: Iterable[Trajectory], folder: Path, agent: TracedAgent) -> int:
    """Write `ID.json` for each trajectory; return their number."""

    def content(trajectory: Trajectory) -> str:
        return json.dumps(atif(trajectory, agent), indent=1)

    return _export(trajectories, folder, ".json", content)


def export_sessions(trajectories: Iterable[Trajectory], folder: Path, agent: TracedAgent) -> int:
    """Write `ID.jsonl` for each trajectory; return their number."""

    def content(trajectory: Trajectory) -> str:
        return "".join(f"{json.dumps(line)}\n" for line in session(trajectory, agent))

    return _export(trajectories, folder, ".jsonl", content)


def _export(
    trajectories: Iterable[Trajectory],
    folder: Path,
    suffix: str,
    content: Callable[[Trajectory], str],
) -> int:
    count = 0
    try:
        (folder / IMAGES).mkdir(parents=True, exist_ok=True)
        for trajectory in trajectories:
            for screen in trajectory.screens:
                picture = folder / image_path(screen)
                if not picture.exists():
                    picture.write_bytes(png_bytes(screen))
            name = quote(utf8_text(trajectory.id), safe="")
            (folder / f"{name}{suffix}").write_text(content(trajectory), "utf-8")
            count += 1
    except OSError as error:
        raise storage_error(error, f"could not export trajectories to {folder}") from error
    return count


def image_path(screen: Screen) -> str:
    return f"{IMAGES}/{screen.digest}.png"


# ATIF --------------------------------------------------------------------------------------------


def atif(trajectory: Trajectory, agent: TracedAgent) -> Json:
    """Return the trajectory as an ATIF document; step 1 is the task with the first screen."""
    task, screens = trajectory.task, trajectory.screens
    asked = {"type": "text", "text": utf8_text(task.instruction)}
    first = {"step_id": 1, "source": "user", "message": [asked, _picture(screens[0])]}
    decided = zip(trajectory.decisions, screens[1:], strict=True)
    steps = [first, *(_atif_step(at, *each) for at, each in enumerate(decided, start=2))]
    tokens = sum(len(each.token_ids) for each in trajectory.decisions)
    return {
        "schema_version": ATIF,
        "session_id": utf8_text(trajectory.id),
        "agent": {"name": HARNESS, "version": agent.version, "model_name": agent.model},
        "steps": steps,
        "final_metrics": {"total_steps": len(steps), "total_completion_tokens": tokens},
        "extra": _about(trajectory),
    }


def _atif_step(number: int, decision: Decision, after: Screen) -> Json:
    call = f"call-{number}"
    name = tool_name(decision.action)
    source = {} if name is None else {"source_call_id": call}
    step: Json = {
        "step_id": number,
        "source": "agent",
        "message": utf8_text(decision.text),
        "observation": {"results": [source | {"content": [_picture(after)]}]},
        "extra": {"weight_version": decision.weight_version},
    }
    if name is not None:
        arguments = _arguments(decision.action)
        step["tool_calls"] = [{"tool_call_id": call, "function_name": name, "arguments": arguments}]
    if decision.token_ids:
        step["metrics"] = {
            "completion_tokens": len(decision.token_ids),
            "completion_token_ids": [int(each) for each in decision.token_ids],
            "logprobs": [max(float(each), -1e9) for each in decision.log_probs],  # JSON has no -inf
        }
    return step


def _picture(screen: Screen) -> Json:
    return {"type": "image", "source": {"media_type": "image/png", "path": image_path(screen)}}


# Session traces ----------------------------------------------------------------------------------


def session(trajectory: Trajectory, agent: TracedAgent) -> Iterator[Json]:
    """Yield the lines of a session: header, task, each answer and the screen after it, ending."""
    instruction = utf8_text(trajectory.task.instruction)
    yield {
        "type": "session", "harness": HARNESS, "id": utf8_text(trajectory.id), "name": instruction,
        **_about(trajectory),
    }  # fmt: skip
    yield _message("user", f"{instruction}\n\n{image_path(trajectory.screens[0])}")
    decided = zip(trajectory.decisions, trajectory.screens[1:], strict=True)
    for number, (decision, after) in enumerate(decided, start=1):
        name, call = tool_name(decision.action), f"call-{number}"
        said = {"model": agent.model}
        if name is None:
            yield _message("assistant", decision.text or "(unreadable)", **said)
            continue
        function = {"name": name, "arguments": json.dumps(_arguments(decision.action))}
        calls = [{"id": call, "function": function}]
        yield _message("assistant", decision.text, toolCalls=calls, **said)
        yield _message("tool", image_path(after), toolCallId=call)
    verdict = trajectory.verdict
    reason = f": {verdict.reason} ({verdict.judge})" if verdict is not None else ""
    yield _message("system", f"{trajectory.ending.value}{reason}")


def _message(role: str, content: str, **more: object) -> Json:
    return {"type": "message", "message": {"role": role, "content": utf8_text(content), **more}}


# Shared by both formats --------------------------------------------------------------------------


def tool_name(action: Action) -> str | None:
    """Return the tool of an action: type_text for `TypeText`; None for an unreadable answer."""
    if isinstance(action, Unreadable):
        return None
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(action).__name__).lower()


def _arguments(action: Action) -> Json:
    given = asdict(action)
    return {
        name: utf8_text(each) if isinstance(each, str) else each for name, each in given.items()
    }


def _about(trajectory: Trajectory) -> Json:
    task, verdict = trajectory.task, trajectory.verdict
    judged = None if verdict is None else asdict(verdict)
    return {
        "task": utf8_text(task.id),
        "split": task.split,
        "ending": trajectory.ending.value,
        "verdict": judged and {key: _plain(each) for key, each in judged.items()},
        "device_seconds": trajectory.device_seconds,
    }


def _plain(value: object) -> object:
    return utf8_text(value) if isinstance(value, str) else value
