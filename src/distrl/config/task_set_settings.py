"""Settings of third-party task sets: where their files or containers are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from distrl.bounds import Bounds, Meaning, check_bounds
from distrl.errors import InvalidSetting
from distrl.task_sets.aitw import Subset


@dataclass(frozen=True, slots=True)
class AitwSettings:
    """Android in the Wild: two text files, one instruction per line; see `task_sets.aitw`."""

    subset: Subset = "general"
    train_file: Annotated[str, Meaning("a text file, one instruction a line")] = ""
    test_file: Annotated[str, Meaning("the same; its instructions are taken out of training")] = ""


@dataclass(frozen=True, slots=True)
class AndroidWorldSettings:
    """AndroidWorld: one container for each phone; see `task_sets.android_world_container`."""

    urls: Annotated[tuple[str, ...], Meaning("of its containers, one for each phone")] = (
        "http://127.0.0.1:5000",
    )
    suite_seed: Annotated[
        int, Bounds(0, 2**31 - 1, "(seed of all parameters; take another to test)")
    ] = 1
    combinations: Annotated[int, Bounds(1, 10**4, "tasks of each type")] = 1

    def __post_init__(self) -> None:
        check_bounds(self)
        for url in self.urls:
            if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
                raise InvalidSetting(
                    f"urls={list(self.urls)}; give urls like http://127.0.0.1:5000"
                )
        if len(set(self.urls)) < len(self.urls):
            raise InvalidSetting(f"urls={list(self.urls)}; a container is one phone, name it once")
