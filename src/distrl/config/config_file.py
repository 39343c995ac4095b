"""Find a file of settings: a path, or the name of one that comes with DistRL.

    distrl train quick_start        # src/distrl/configs/quick_start.toml, unless there is a file
    distrl train ./quick_start.toml # of that name here

`distrl configs` lists them. Plans (`distrl plan large_lab`) are beside them.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from distrl.errors import InvalidSetting, UsageError

FOLDER = Path(__file__).parents[1] / "configs"
PLANS = FOLDER / "plans"


def config_names(folder: Path = FOLDER) -> list[str]:
    """The settings that come with DistRL, by name."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def config_path(name: str, folder: Path = FOLDER) -> Path:
    """The file of one of ours; a name that is none says which are like it."""
    if name in config_names(folder):
        return folder / f"{name}.toml"
    near = difflib.get_close_matches(name, config_names(folder), n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else "`distrl configs` lists ours"
    raise InvalidSetting(f"there is no config file {name}; check its name ({hint})")


def settings_path(given: object) -> Path | None:
    """What a script names its settings by: a file, a name, or nothing for the defaults."""
    if not isinstance(given, str | Path | None):
        raise UsageError(
            f"{given!r:.60} names no settings: give a file, a name such as quick_start, or "
            "nothing; load_config(NAME, {...}) takes a dict of what to change in them"
        )
    return None if given is None else Path(given)


def found_config(given: Path) -> Path:
    """That file, or the settings of that run directory; where there is none, and no suffix and no
    folder is given, ours of that name.
    """
    is_name = given.name == str(given) and not given.suffix
    try:
        if (of_a_run := given / "config.toml").is_file():
            return of_a_run
        if given.exists() or not is_name:
            return given
    except OSError as error:  # a name that no file can have, or a folder that is not ours to enter
        raise InvalidSetting(
            f"there is no config file {str(given)[:100]}: {error.strerror}"
        ) from error
    return config_path(given.name, PLANS if given.name in config_names(PLANS) else FOLDER)


def config_words(name: str) -> str:
    """What a config is for: the comment that it begins with, up to the first blank line."""
    words = []
    for line in config_path(name).read_text("utf-8").splitlines():
        if not line.startswith("#") or line.strip() == "#":
            break
        words.append(line.lstrip("# "))
    return " ".join(words)
