"""The family Web Shopping: find, choose and buy things in the shops of the browser.

A new template is a class in one of these modules and an entry in that module's `TEMPLATES`.
"""

from __future__ import annotations

from phonesim.tasks.shopping import (
    asking,
    buying,
    carting,
    filtering,
    order_questions,
    visiting,
    wishing,
)
from phonesim.tasks.template import Template

SHOPPING_TEMPLATES: tuple[type[Template], ...] = (
    *visiting.TEMPLATES,
    *filtering.TEMPLATES,
    *carting.TEMPLATES,
    *wishing.TEMPLATES,
    *buying.TEMPLATES,
    *asking.TEMPLATES,
    *order_questions.TEMPLATES,
)
