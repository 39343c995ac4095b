"""Dialects by name: codecs between the text that a model family writes and `Action`.

The canonical `Action` has coordinates in [0, 1]; a `Dialect` turns it into the text that a family
of models writes, and back. There is one file for each; policies look theirs up here, by the name in
their settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from distrl import plugins
from distrl.agent.dialects.aitw import AITW
from distrl.agent.dialects.android_world import ANDROID_WORLD
from distrl.agent.dialects.autoglm import AUTOGLM
from distrl.agent.dialects.compact import COMPACT
from distrl.agent.dialects.dialect import Dialect
from distrl.agent.dialects.elements import ELEMENTS
from distrl.agent.dialects.mobile_use import QWEN2_5_VL, QWEN3_VL
from distrl.agent.dialects.ui_tars import UI_TARS, UI_TARS_1_5
from distrl.errors import InvalidSetting

_ALL = (
    COMPACT, AITW, ANDROID_WORLD, AUTOGLM, ELEMENTS, QWEN2_5_VL, QWEN3_VL, UI_TARS, UI_TARS_1_5,
)  # fmt: skip

DIALECTS: Mapping[str, Dialect] = MappingProxyType({dialect.name: dialect for dialect in _ALL})


def dialect_named(name: str) -> Dialect:
    """Return the built-in or registered dialect of that name, or raise `InvalidSetting`."""
    if name in DIALECTS:
        return DIALECTS[name]
    if name in plugins.names("dialect"):
        registered: Dialect = plugins.find("dialect", name)
        return registered
    raise InvalidSetting(
        f"dialect={name!r}; there is none of that name, only {', '.join(plugins.names('dialect'))}"
    )
