"""The family General: tasks in the system and its apps. A new template is a class in one of these
modules and an entry in that module's `TEMPLATES`."""

from __future__ import annotations

from distrl.tasks.general import notes
from distrl.tasks.template import Template

GENERAL_TEMPLATES: tuple[type[Template], ...] = (*notes.TEMPLATES,)
