"""Rows of switches for the settings record of an everyday app."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from phonesim.app import Ui
from phonesim.toolkit.rows import ListRow


def switch_rows(ui: Ui, kind: type[Any], labels: Mapping[str, str]) -> list[ListRow]:
    """Return a switch for each field in `labels` of the settings record of that kind."""
    settings = ui.facts.one(kind)
    return [
        ListRow(
            ui.tr(label),
            switch=getattr(settings, field),
            on_tap=partial(ui.facts.change, kind, **{field: not getattr(settings, field)}),
        )
        for field, label in labels.items()
    ]
