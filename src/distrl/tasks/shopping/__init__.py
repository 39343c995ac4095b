"""The family Web Shopping: find, choose and buy things in the shops of the browser."""

from __future__ import annotations

from distrl.tasks.template import Template

SHOPPING_TEMPLATES: tuple[type[Template], ...] = ()
