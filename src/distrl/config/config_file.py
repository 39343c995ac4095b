"""Find a settings file: by its path, or by the name of one that comes with DistRL.

    distrl train quick_start        # src/distrl/configs/quick_start.toml, unless the current
    distrl train ./quick_start.toml # folder has a file of the given name

`distrl configs` lists the names. Plans (`distrl plan large_lab`) are in a folder beside them.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from distrl.errors import InvalidSetting, UsageError

FOLDER = Path(__file__).parents[1] / "configs"
PLANS = FOLDER / "plans"


def config_names(folder: Path = FOLDER) -> list[str]:
    """Return the names of the settings files that come with DistRL."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def config_path(name: str, folder: Path = FOLDER) -> Path:
    """Return the path of a settings file of ours; raise with similar names if there is none."""
    if name in config_names(folder):
        return folder / f"{name}.toml"
    near = difflib.get_close_matches(name, config_names(folder), n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else "`distrl configs` lists ours"
    raise InvalidSetting(f"there is no config file {name}; check its name ({hint})")


def settings_path(given: object) -> Path | None:
    """Check how a script names its settings: by a path, a name, or None for the defaults."""
    if not isinstance(given, str | Path | None):
        raise UsageError(
            f"{given!r:.60} names no settings: give a file, a name such as quick_start, or "
            "nothing; load_config(NAME, {...}) takes a dict of what to change in them"
        )
    return None if given is None else Path(given)


def found_config(given: Path) -> Path:
    """Return the settings file that `given` means: config.toml in it if it is a run directory, else
    the path itself if it exists or has a folder or a suffix, else our file of that name.
    """
    is_name = given.name == str(given) and not given.suffix
    try:
        if (of_a_run := given / "config.toml").is_file():
            return of_a_run
        if given.exists() or not is_name:
            return given
    except OSError as error:  # an invalid file name, or a folder without permission to enter
        raise InvalidSetting(
            f"there is no config file {str(given)[:100]}: {error.strerror}"
        ) from error
    return config_path(given.name, PLANS if given.name in config_names(PLANS) else FOLDER)


def config_words(name: str) -> str:
    """Return what a config is for: the comment at its beginning, up to the first blank line."""
    words = []
    for line in config_path(name).read_text("utf-8").splitlines():
        if not line.startswith("#") or line.strip() == "#":
            break
        words.append(line.lstrip("# "))
    return " ".join(words)
