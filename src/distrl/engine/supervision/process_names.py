"""Unique names for the processes of a run, through all restarts and resumes.

A name is reserved by creating its log file, so no other record of used names is needed.
"""

from __future__ import annotations

from distrl.errors import storage_error
from distrl.runs.run_directory import OWNER_ONLY, RunDirectory


def new_name(run: RunDirectory, number: int, role: str = "collector") -> str:
    """Reserve a name that no process of the run has had, by creating its log file.

    Episode ids begin with the name, so they stay unique through restarts and resumes.
    """
    folder = run.path / "logs"
    try:
        run.path.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
        folder.mkdir(exist_ok=True)
        start = 1 + len(starts(run, number, role))
        while True:
            name = f"{role}-{number}.{start}"
            try:
                (folder / f"{name}.log").touch(exist_ok=False)
            except FileExistsError:
                start += 1
            else:
                return name
    except OSError as error:
        raise storage_error(error, f"making a log for {role} {number} in {folder}") from error


def starts(run: RunDirectory, number: int, role: str = "collector") -> list[int]:
    """Return the start numbers of that process so far, from its log files."""
    logs = (run.path / "logs").glob(f"{role}-{number}.*.log")
    return [int(log.name.split(".")[1]) for log in logs if log.name.split(".")[1].isdigit()]
