"""One episode step by step: what was seen, answered and done, and what the learner thought of it.

Figures of the learner are those of its last draw of the trajectory (`draw_log`), or of a recording
in the report where it was never drawn. What was not recorded is None, and the page says so.
"""

from __future__ import annotations

import io
import math
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from PIL import Image

from distrl.episodes.live_feed import confidence, described
from distrl.errors import CorruptData, CorruptRecord
from distrl.json_lines import read_lines
from distrl.records import Decision, Trajectory
from distrl.replay.store.trajectory_database import connect_reader, typed_errors
from distrl.replay.store.trajectory_reader import TrajectoryReader
from distrl.reporting.recording import describe, recording_frames, write_gif
from distrl.runs.draw_log import LastDraw, read_draw
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import Recording
from distrl.view.run_summary import settings_of

STARTER = Path(__file__).parents[1] / "agent" / "starter" / "weights" / "tokenizer.json"
KEPT = 16  # trajectories in memory, as packed as they were stored
QUALITY = 88  # of a screen as JPEG
Pieces = Callable[[int], str]


@dataclass(slots=True)
class EpisodeFiles:
    """Finds the trajectories of one run, and keeps the last few."""

    run: RunDirectory
    _kept: OrderedDict[int, Trajectory] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def trajectory(self, seq: int) -> Trajectory:
        """`LookupError`: it is not there, dropped since, or damaged."""
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
        """The whole episode but its screens, as plain values."""
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
            "notes": list(trajectory.notes),
            "device_seconds": trajectory.device_seconds,
            "screens": len(trajectory.screens),
            "width": trajectory.screens[0].width,
            "height": trajectory.screens[0].height,
            "drawn": None if draw is None else {"updates": draw.updates, "times": draw.times_drawn,
                                                "priority": draw.priority},
            "steps": [
                _step(decision, number, draw, pieces)
                for number, decision in enumerate(trajectory.decisions)
            ],
        }  # fmt: skip

    def _recorded(self, trajectory_id: str) -> LastDraw | None:
        """What a recording for the report says about it; None: there is none."""
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
        """The screen before that step as JPEG; the last one is where the episode ended."""
        screens = self.trajectory(seq).screens
        if not 0 <= step < len(screens):
            raise LookupError(f"episode {seq} has {len(screens)} screens, and no {step}")
        encoded = io.BytesIO()
        try:
            Image.fromarray(screens[step].pixels).save(encoded, "JPEG", quality=QUALITY)
        except CorruptData as error:
            raise LookupError(str(error)) from error
        return encoded.getvalue()

    def gif(self, seq: int, scratch: Path) -> bytes:
        """The episode as an animation, made in a folder that may be written to."""
        path = scratch / "episode.gif"
        try:
            write_gif(recording_frames(self.trajectory(seq)), path)
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


def token_pieces(run: RunDirectory) -> Pieces:
    """What a token id says, by the tokenizer of the run's policy; without one, its number."""
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
