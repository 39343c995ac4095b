"""The id by which verifiers finds the phone: `vf-eval distrl-phone`.

verifiers imports the module of an environment's id, which cannot have dots; all is in
`distrl.environments.verifiers_environment`.
"""

from distrl.environments.verifiers_environment import PhoneHarness, PhoneTaskset

__all__ = ["PhoneHarness", "PhoneTaskset"]
