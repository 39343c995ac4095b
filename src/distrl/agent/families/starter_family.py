"""Our own starter model as a family like any other."""

from __future__ import annotations

from distrl.agent.families.model_family import ModelFamily
from distrl.agent.starter.building import register
from distrl.agent.starter.inputs import PAST_ACTIONS, starter_inputs

STARTER_FAMILY = ModelFamily(
    "our starter",
    ("distrl_starter",),
    "compact",
    r".*layers\.\d+\..*\.(q_proj|k_proj|v_proj|o_proj|up_proj|down_proj)",
    starter_inputs,
    register,
    past_actions=PAST_ACTIONS,
    frozen=r"encoder\..*",  # it reads well; what to do about it is learned
)
