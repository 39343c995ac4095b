"""One episode step by step: screens, answers, actions, and the learner's estimates.

The estimates are those of the learner's last draw of the trajectory (`draw_log`), or of a recording
in the report if it was never drawn. What was not recorded is None, and the page says so.
"""

from __future__ import annotations

import io
import math
import sqlite3
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from PIL import Image

from distrl import plugins
from distrl.episodes.live_feed import confidence, described
from distrl.errors import CorruptData, CorruptRecord, InvalidSetting
from distrl.json_lines import read_lines
from distrl.judging.judge_prompt import BUILT_IN, JudgePrompt, read_examples
from distrl.records import Decision, Trajectory
from distrl.replay.store.trajectory_database import connect_reader, typed_errors
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.reporting.recording import describe, write_recording
from distrl.runs.draw_log import LastDraw, read_draw
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Recording
from distrl.view.episode_index import read_header
from distrl.view.run_summary import settings_of

STARTER = Path(__file__).parents[1] / "agent" / "starter" / "weights" / "tokenizer.json"
KEPT = 16  # trajectories in memory, with their screens still compressed
MAX_FAMILY = 64  # members that are shown
MAX_SHOWN = 4000  # characters of a plug-in's text
QUALITY = 88  # of a screen as JPEG
Pieces = Callable[[int], str]


@dataclass(slots=True)
class EpisodeFiles:
    """Reads the trajectories of one run, and caches the last `KEPT`."""

    run: RunDirectory
    _kept: OrderedDict[int, Trajectory] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def trajectory(self, seq: int) -> Trajectory:
        """Return a trajectory; raise `LookupError` if it is missing, was dropped, or is damaged."""
        with self._lock:
            if seq in self._kept:
                self._kept.move_to_end(seq)
                return self._kept[seq]
        found = self._find(seq)
        if found is None:
            raise LookupError(f"no episode {seq}: it is damaged, or was dropped to make room")
        with self._lock:
            self._kept[seq] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found

    def _find(self, seq: int) -> Trajectory | None:
        with typed_errors(self.run.trajectories, f"read trajectory {seq}"):
            connection = connect_reader(self.run.trajectories)
            if connection is None:
                return None
            with closing(connection):
                return TrajectoryReader(self.run.trajectories).find(connection, "seq", seq)

    def xray(self, seq: int) -> dict[str, Any]:
        """Return the whole episode except its screens, as plain values."""
        trajectory = self.trajectory(seq)
        draw = read_draw(self.run.draws, trajectory.id) or self._recorded(trajectory.id)
        pieces = token_pieces(self.run)
        verdict = trajectory.verdict
        return {
            "seq": seq,
            "id": trajectory.id,
            "task": asdict(trajectory.task),
            "ending": trajectory.ending.value,
            "success": trajectory.success,
            "judge": verdict.judge if verdict else None,
            "reason": verdict.reason if verdict else None,
            "progress": verdict.progress if verdict else None,
            "missing": list(verdict.missing) if verdict else [],
            "collateral": list(verdict.collateral) if verdict else [],
            "notes": list(trajectory.notes),
            "device_seconds": trajectory.device_seconds,
            "screens": len(trajectory.screens),
            "width": trajectory.screens[0].width,
            "height": trajectory.screens[0].height,
            "drawn": None if draw is None else {"updates": draw.updates, "times": draw.times_drawn,
                                                "priority": draw.priority},
            "family": self.family(trajectory),
            "question": self.question(trajectory),
            "steps": [
                {
                    **_step(decision, number, draw, pieces),
                    "shown": shown_by_plugin(self.run, trajectory, number),
                }
                for number, decision in enumerate(trajectory.decisions)
            ],
        }  # fmt: skip

    def family(self, trajectory: Trajectory) -> list[dict[str, Any]]:
        """List the attempt and its forks, the continuations from its steps; empty without any."""
        root = trajectory.attempt_id.encode()
        query = "SELECT seq FROM trajectories WHERE id = ? OR (id >= ? AND id < ?) ORDER BY seq"
        with typed_errors(self.run.trajectories, "look for forks"):
            connection = connect_reader(self.run.trajectories)
            if connection is None:
                return []
            with closing(connection):
                found = connection.execute(query, (root, root + b"/fork/", root + b"/fork0"))
                places = [seq for [seq] in found.fetchall()]
                if len(places) < 2:
                    return []
                members = (_member(connection, seq) for seq in places[:MAX_FAMILY])
                return [each for each in members if each is not None]

    def question(self, trajectory: Trajectory) -> dict[str, Any] | None:
        """Return what a vision-language judge was asked, and its whole reply if that was kept."""
        verdict = trajectory.verdict
        if verdict is None or not verdict.judge.startswith("vlm/"):
            return None
        prompt = _judge_prompt(settings_of(self.run, trajectory.environment))
        if prompt is None or not verdict.judge.endswith(f"/{prompt.hash}"):
            return {"messages": None, "reply": None}
        case = prompt.case_of(trajectory)
        messages = [
            {"role": each["role"], "text": _plain(each["content"])}
            for each in prompt.messages(case, lambda screen: "")
        ]
        try:
            from distrl.judging.vlm_judge import read_reply
        except ModuleNotFoundError:  # httpx is optional; only clients of servers need it
            return {"messages": messages, "reply": None}
        reply = read_reply(self.run.judge_cache, prompt.key_of(case), verdict.judge)
        return {"messages": messages, "reply": reply}

    def _recorded(self, trajectory_id: str) -> LastDraw | None:
        """Return the estimates of a recording for the report; None if there is none."""
        try:
            found = [
                each
                for each in read_lines(self.run.recordings, Recording)
                if each.id == trajectory_id
            ]
        except CorruptData:
            return None
        if not found:
            return None
        steps = [step for step in found[-1].steps if step.value is not None]
        return LastDraw(
            found[-1].updates, 0, math.nan,
            [step.value for step in steps], [step.ratio for step in steps],
            [step.advantage for step in steps],
        )  # fmt: skip

    def screen(self, seq: int, step: int) -> bytes:
        """Return the screen before that step as JPEG; the last one is where the episode ended."""
        screens = self.trajectory(seq).screens
        if not 0 <= step < len(screens):
            raise LookupError(f"episode {seq} has {len(screens)} screens, and no {step}")
        encoded = io.BytesIO()
        try:
            Image.fromarray(screens[step].pixels).save(encoded, "JPEG", quality=QUALITY)
        except CorruptData as error:
            raise LookupError(str(error)) from error
        return encoded.getvalue()

    def recording(self, seq: int, path: Path) -> bytes:
        """Return the episode as a GIF or an MP4; `path` is a scratch file to write it to."""
        try:
            write_recording([self.trajectory(seq)], path)
        except CorruptRecord as error:
            raise LookupError(str(error)) from error
        return path.read_bytes()


def _step(decision: Decision, number: int, draw: LastDraw | None, pieces: Pieces) -> dict[str, Any]:
    def thought(row: list[float | None]) -> float | None:
        return row[number] if number < len(row) else None

    tokens = zip(decision.token_ids, decision.log_probs, strict=False)
    return {
        "action": described(decision.action),
        "words": describe(decision.action),
        "answer": decision.text,
        "tokens": [[pieces(token), round(math.exp(min(0.0, p)), 5)] for token, p in tokens],
        "confidence": confidence(decision),
        "version": decision.weight_version,
        "value": thought(draw.values) if draw else None,
        "ratio": thought(draw.ratios) if draw else None,
        "advantage": thought(draw.advantages) if draw else None,
    }


def shown_by_plugin(run: RunDirectory, trajectory: Trajectory, step: int) -> dict[str, str]:
    """Return what the `step_view` plug-in of the device kind shows of a step, or its error."""
    kind = settings_of(run, trajectory.environment).get("devices.kind")
    if kind not in {each.name for each in plugins.plugins("step_view")}:
        return {}
    try:
        shown = dict(plugins.find("step_view", kind)(trajectory, step))
    except (AttributeError, LookupError, TypeError, ValueError, RuntimeError) as error:
        return {"step view": f"its plug-in failed: {type(error).__name__}: {error}"}
    return {str(title): str(text)[:MAX_SHOWN] for title, text in shown.items()}


def _member(connection: sqlite3.Connection, seq: int) -> dict[str, Any] | None:
    try:
        header = read_header(connection, seq)
        branch = header.get("branch")
        return {
            "seq": seq,
            "step": branch["step"] if branch else 0,
            "root": branch is None,
            "steps": len(header["decisions"]),
            "ending": header["ending"],
        }
    except (CorruptRecord, KeyError, TypeError, ValueError, sqlite3.Error):
        return None  # dropped, or damaged


def _judge_prompt(settings: dict[str, Any]) -> JudgePrompt | None:
    """Build the judge's prompt from the settings of a run; None if its examples are missing."""
    examples = settings.get("judge.examples")
    try:
        shown = read_examples(Path(examples)) if examples else BUILT_IN
        return JudgePrompt(shown, last_screens=settings.get("judge.last_screens", 2))
    except (InvalidSetting, TypeError):
        return None


def _plain(content: str | list[dict[str, Any]]) -> str:
    """Return the text of a message, with a placeholder for each picture."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "[a screen]") for part in content)


def token_pieces(run: RunDirectory) -> Pieces:
    """Return a decoder of token ids, by the policy's tokenizer; without one, `str`."""
    own = run.policy / "tokenizer.json"
    shipped = STARTER if settings_of(run).get("agent.model") == "starter" else own
    tokenizer = _tokenizer(own if own.is_file() else shipped)
    if tokenizer is None:
        return str
    return lambda token: str(tokenizer.decode([token], skip_special_tokens=False) or token)


@lru_cache(maxsize=8)
def _tokenizer(path: Path) -> Any | None:
    try:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(path)) if path.is_file() else None
    except (ImportError, OSError, ValueError):
        return None
