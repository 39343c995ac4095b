"""The family Everyday: tasks in chat, wallet, travel, feed and food, and tasks across apps."""

from __future__ import annotations

from phonesim.tasks.everyday import (
    asking,
    chat,
    feed,
    feed_account,
    food,
    travel,
    wallet,
    wallet_cards,
)
from phonesim.tasks.everyday.crossing import CROSSING_TEMPLATES, HOPPING_TEMPLATES
from phonesim.tasks.template import Template

EVERYDAY_TEMPLATES: tuple[type[Template], ...] = (
    *chat.TEMPLATES,
    *wallet.TEMPLATES,
    *wallet_cards.TEMPLATES,
    *travel.TEMPLATES,
    *feed.TEMPLATES,
    *food.TEMPLATES,
    *CROSSING_TEMPLATES,
    *asking.TEMPLATES,
    *feed_account.TEMPLATES,
    *HOPPING_TEMPLATES,
)
