"""A settings file as nodes that know which file they come from."""

from __future__ import annotations

import tomllib
from pathlib import Path

from distrl.config.typed_reader import Node, plant
from distrl.errors import InvalidSetting


def read_toml(path: Path) -> dict[str, Node]:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InvalidSetting(f"there is no config file {path}; check its name") from None
    except OSError as error:
        raise InvalidSetting(f"config file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidSetting(f"config file {path} is not UTF-8 text ({error.reason})") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(f"config file {path} is not valid TOML: {error}") from error
    return {name: plant(value, f"in {path}") for name, value in content.items()}
