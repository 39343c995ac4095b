"""The health of a run: failing phones, restarted collectors, losses, disk space, warnings."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from distrl.json_lines import decode_line
from distrl.reporting.made_with import made_with
from distrl.reporting.run_story import RunStory
from distrl.runs.run_directory import RunDirectory
from distrl.runs.run_records import CollectorNote, CollectorNotes
from distrl.view.run_catalogue import run_state

LOG_BYTES = 65536  # of each log, from its end
WARNINGS = 40  # that are shown, the last ones
COLLECTOR = re.compile(r"(collector-\d+)\.(\d+)\.log")


def run_health(story: RunStory) -> dict[str, Any]:
    """Return the health of a run as plain values."""
    run = story.run
    notes = read_notes(run)
    last = {k: v for point in story.points[-40:] for k, v in point.figures.items()}
    usage = shutil.disk_usage(run.path)
    return {
        "queue": last.get("queue"),
        "in_flight": last.get("in_flight"),
        "quarantined": last.get("quarantined"),
        "faults": last.get("faults"),
        "replay_share": last.get("replay/bytes_share"),
        "collectors": _collectors(story, notes),
        "away": [
            {"name": phone, "reason": why, "collector": each.name}
            for each in notes
            for phone, why in each.quarantined.items()
        ],
        "devices": _devices(story),
        "failed": [asdict(each) for each in story.failed_devices()],
        "losses": [asdict(each) for each in story.losses],
        "refusals": Counter(each.why for each in story.refusals).most_common(20),
        "disk_free": usage.free,
        "disk_total": usage.total,
        "run_bytes": _size(run.path),
        "warnings": _warnings(run),
        "machines": _machines(run, notes),
        "made_with": made_with(run),
    }


def read_notes(run: RunDirectory) -> tuple[CollectorNote, ...]:
    """Return the collectors as of their last heartbeats; empty if the run recorded none."""
    try:
        return decode_line(run.collectors.read_bytes(), CollectorNotes).collectors
    except (OSError, ValueError):
        return ()


def _machines(run: RunDirectory, notes: Sequence[CollectorNote]) -> list[tuple[str, str]]:
    """Return which part runs on which machine, as far as the run recorded it."""
    home, members = _plain(run.learner_home), _plain(run.path / "join" / "members.json")
    learner = f"{home['hostname']} ({home['address']})" if "hostname" in home else "this machine"
    joined = members.get("numbers") or {}
    found = [("learner", learner)]
    if copy := home.get("copy"):
        found.append(("copy of the run", str(copy.get("hostname", ""))))
    places = Counter(each.place for each in notes if each.place)
    found += [(f"{count} of the collectors", place) for place, count in sorted(places.items())]
    return found + [(f"joined collector {number}", name[:12]) for name, number in joined.items()]


def _plain(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file; empty if there is none."""
    try:
        found = msgspec.json.decode(path.read_bytes())
    except (OSError, ValueError, msgspec.DecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _collectors(story: RunStory, notes: Sequence[CollectorNote]) -> list[dict[str, Any]]:
    """List the collectors by name, as found in logs, episode ids and heartbeats.

    A run on a cluster may have none of their logs here; episode ids begin with their names.
    """
    logs = (COLLECTOR.fullmatch(path.name) for path in (story.run.path / "logs").glob("*.log"))
    starts = {(found[1], int(found[2])) for found in logs if found}
    names = {line.id.partition("/")[0] for line in story.episodes}
    for name in names | {each.name for each in notes}:
        if found := COLLECTOR.fullmatch(f"{name}.log"):
            starts.add((found[1], int(found[2])))
    played = Counter(line.id.partition(".")[0] for line in story.episodes)
    now = {each.name.rpartition(".")[0]: each for each in notes}
    trains = run_state(story.run, time.time()) == "running"
    return [
        {
            "name": name,
            "restarts": max(start for slot, start in starts if slot == name) - 1,
            "episodes": played[name],
            "place": now[name].place if name in now else "",
            "in_flight": now[name].in_flight if trains and name in now else None,
        }
        for name in sorted({slot for slot, _ in starts}, key=lambda each: (len(each), each))
    ]


def _devices(story: RunStory) -> list[dict[str, Any]]:
    played = Counter(each.device for each in story.episodes)
    broken = Counter(each.device for each in story.episodes if not each.judged)
    last = {each.device: each.ended for each in story.episodes}
    return [
        {
            "name": name,
            "episodes": played[name],
            "broken": broken[name],
            "last": round(last[name], 1),
            "busy": [round(share, 2) for share in story.busy(name, 48)],
        }
        for name in story.devices
    ]


def _size(path: Path) -> int:
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += (Path(folder) / name).lstat().st_size
            except OSError:  # gone since
                continue
    return total


def _warnings(run: RunDirectory) -> list[str]:
    """Return the last warnings and errors in the logs."""
    found = []
    for path in sorted((run.path / "logs").glob("*.log")):
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
        warned = (line for line in lines if "WARNING" in line or "ERROR" in line)
        found += [f"{path.stem}: {line[:300]}" for line in warned]
    return found[-WARNINGS:]
