"""A static copy of the page with its data, to publish: any web server can serve the folder.

It has the same files under the same names as the server sends (`resources`), for one run or for
several, with the newest episodes of each, and the reports, which link into it. The live wall is
left out, since nothing is live.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from distrl.errors import UsageError, storage_error
from distrl.reporting.report import report_page
from distrl.view.resources import Resources
from distrl.view.server import STATIC

EPISODES = 100  # of each run, the newest


def write_bundle(resources: Resources, folder: Path, episodes: int = EPISODES) -> int:
    """Write the copy into a new or empty folder; return the number of episodes in it."""
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; give --bundle a folder of its own")
    try:
        shutil.copytree(STATIC, folder / "static")
        (folder / "static" / "index.html").replace(folder / "index.html")
        names = list(resources.catalogue.runs())
        _copy(resources, folder, "runs.json")
        known = msgspec.json.decode(resources.get("names.json").content)
        _write(folder, "names.json", msgspec.json.encode({**known, "video": False}))
        written = sum(_copy_run(resources, folder, name, episodes) for name in names)
        for name in names:
            page = f"index.html#/{quote(name, safe='')}"
            report = "report.html" if len(names) == 1 else f"report-{name}.html"
            story = resources.run(name).story
            (folder / report).write_text(report_page(story, page), "utf-8")
        for one in names:
            for other in names:
                _copy(resources, folder, f"{one}/versus/{other}.json")
    except OSError as error:
        raise storage_error(error, f"writing the bundle {folder}") from error
    return written


def _copy_run(resources: Resources, folder: Path, name: str, episodes: int) -> int:
    for each in ("summary.json", "curves.json", "health.json"):
        _copy(resources, folder, f"{name}/{each}")
    details = msgspec.json.decode(resources.get(f"{name}/details.json").content)
    kept = set(details["seq"][-episodes:])
    for each in ("episodes.json", "details.json"):
        columns = msgspec.json.decode(resources.get(f"{name}/{each}").content)
        _write(folder, f"{name}/{each}", msgspec.json.encode(_rows(columns, kept)))
    newest = msgspec.json.decode(resources.get(f"{name}/newest.json").content)
    rows = {each: _rows(newest[each], kept) for each in ("episodes", "details")}
    _write(folder, f"{name}/newest.json", msgspec.json.encode({"total": len(kept), **rows}))
    for seq in sorted(kept):
        episode = resources.get(f"{name}/episode/{seq}.json").content
        _write(folder, f"{name}/episode/{seq}.json", episode)
        _copy(resources, folder, f"{name}/episode/{seq}.gif")
        for step in range(msgspec.json.decode(episode)["screens"]):
            _copy(resources, folder, f"{name}/screen/{seq}-{step}.jpg")
    return len(kept)


def _rows(columns: dict[str, list[Any]], kept: set[int]) -> dict[str, list[Any]]:
    places = [at for at, seq in enumerate(columns["seq"]) if seq in kept]
    return {name: [column[at] for at in places] for name, column in columns.items()}


def _copy(resources: Resources, folder: Path, path: str) -> None:
    _write(folder, path, resources.get(path).content)


def _write(folder: Path, path: str, content: bytes) -> None:
    target = folder / "data" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
