"""Every family of models that a policy can be. To add one, write its file and list it here."""

from __future__ import annotations

from distrl.agent.families.auto_ui import AUTO_UI
from distrl.agent.families.gemma import GEMMA
from distrl.agent.families.idefics import IDEFICS
from distrl.agent.families.intern_vl import INTERN_VL
from distrl.agent.families.model_family import ModelFamily
from distrl.agent.families.qwen_vl import QWEN2_VL, QWEN3_VL
from distrl.agent.families.starter_family import STARTER_FAMILY

FAMILIES: tuple[ModelFamily, ...] = (
    QWEN2_VL, QWEN3_VL, IDEFICS, GEMMA, INTERN_VL, AUTO_UI, STARTER_FAMILY,
)  # fmt: skip


def family_of(model_type: str) -> ModelFamily | None:
    """The family that a `model_type` of config.json belongs to."""
    return next((family for family in FAMILIES if model_type in family.model_types), None)
