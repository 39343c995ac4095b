"""The ways of writing an action down, by name: codecs between model text and `Action`.

The canonical `Action` has coordinates in [0, 1]; a `Dialect` turns it into the text that a family
of models writes, and back. There is one file for each; policies pick theirs here, by the name in
their settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from distrl.agent.dialects.aitw import Aitw
from distrl.agent.dialects.android_world import AndroidWorld
from distrl.agent.dialects.autoglm import AutoGlm
from distrl.agent.dialects.compact import Compact
from distrl.agent.dialects.dialect import Dialect
from distrl.agent.dialects.mobile_use import qwen2_5_vl, qwen3_vl
from distrl.agent.dialects.ui_tars import ui_tars, ui_tars_1_5
from distrl.errors import InvalidSetting

_ALL: tuple[Dialect, ...] = (
    Compact(), Aitw(), AndroidWorld(), AutoGlm(),
    qwen2_5_vl(), qwen3_vl(), ui_tars(), ui_tars_1_5(),
)  # fmt: skip

DIALECTS: Mapping[str, Dialect] = MappingProxyType({dialect.name: dialect for dialect in _ALL})


def dialect_named(name: str) -> Dialect:
    """The dialect of that name."""
    if name not in DIALECTS:
        raise InvalidSetting(
            f"dialect={name!r}; there is none of that name, only {', '.join(DIALECTS)}"
        )
    return DIALECTS[name]
