"""The page of blocked people, each with a button to unblock; used by Chat and Feed."""

from __future__ import annotations

from functools import partial

from phonesim.app import Ui, Window
from phonesim.contents.everyday.posts import BlockedAuthor
from phonesim.contents.everyday.threads import BlockedChatter
from phonesim.toolkit.rows import Empty, ListRow


def blocked_people(ui: Ui, kind: type[BlockedAuthor] | type[BlockedChatter]) -> Window:
    rows = [
        ListRow(
            each.person,
            avatar=each.person,
            button=(
                "close",
                ui.tr("Unblock {name}", name=each.person),
                partial(ui.facts.remove, each),
            ),
        )
        for each in ui.facts.all(kind)
    ]
    return ui.page(ui.tr("Blocked people"), rows or [Empty(ui.tr("Nobody is blocked"), "users")])
