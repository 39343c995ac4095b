"""What is wrong with a run, or could be: phones that fail, collectors that were restarted, room."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from distrl.reporting.made_with import made_with
from distrl.reporting.run_story import RunStory
from distrl.runs.run_directory import RunDirectory

LOG_BYTES = 65536  # of each log, from its end
WARNINGS = 40  # that are shown, the last ones
COLLECTOR = re.compile(r"(collector-\d+)\.(\d+)\.log")


def run_health(story: RunStory) -> dict[str, Any]:
    """All of it as plain values."""
    run = story.run
    last = {k: v for point in story.points[-40:] for k, v in point.figures.items()}
    usage = shutil.disk_usage(run.path)
    return {
        "queue": last.get("queue"),
        "in_flight": last.get("in_flight"),
        "quarantined": last.get("quarantined"),
        "faults": last.get("faults"),
        "replay_share": last.get("replay/bytes_share"),
        "collectors": _collectors(run),
        "devices": _devices(story),
        "failed": [asdict(each) for each in story.failed_devices()],
        "losses": [asdict(each) for each in story.losses],
        "refusals": Counter(each.why for each in story.refusals).most_common(20),
        "disk_free": usage.free,
        "disk_total": usage.total,
        "run_bytes": _size(run.path),
        "warnings": _warnings(run),
        "machines": _machines(run),
        "made_with": made_with(run),
    }


def _machines(run: RunDirectory) -> list[tuple[str, str]]:
    """Which part is where, as far as the run has written it down."""
    home, members = _plain(run.learner_home), _plain(run.path / "join" / "members.json")
    learner = f"{home['hostname']} ({home['address']})" if "hostname" in home else "this machine"
    joined = members.get("numbers") or {}
    found = [("learner", learner)]
    if copy := home.get("copy"):
        found.append(("copy of the run", str(copy.get("hostname", ""))))
    return found + [(f"joined collector {number}", name[:12]) for name, number in joined.items()]


def _plain(path: Path) -> dict[str, Any]:
    """A file of JSON; empty where it is none."""
    try:
        found = msgspec.json.decode(path.read_bytes())
    except (OSError, ValueError, msgspec.DecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _collectors(run: RunDirectory) -> list[dict[str, Any]]:
    """By name, with the number of times that each was started again."""
    starts: dict[str, int] = {}
    for path in (run.path / "logs").glob("collector-*.log"):
        if found := COLLECTOR.fullmatch(path.name):
            starts[found[1]] = max(starts.get(found[1], 0), int(found[2]))
    ordered = sorted(starts.items(), key=lambda each: (len(each[0]), each[0]))
    return [{"name": name, "restarts": count - 1} for name, count in ordered]


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
    """The last lines of the logs that warn."""
    found = []
    for path in sorted((run.path / "logs").glob("*.log")):
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
        warned = (line for line in lines if "WARNING" in line or "ERROR" in line)
        found += [f"{path.stem}: {line[:300]}" for line in warned]
    return found[-WARNINGS:]
