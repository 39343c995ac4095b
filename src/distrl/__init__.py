"""DistRL: asynchronous, distributed reinforcement learning for agents that operate phones.

Importing this package is light: no numpy, no torch, no Ray, no drawing. Take what you need from its
folders. If gymnasium has been imported already, the phone's environments are registered with it:
see `phonesim.gymnasium_registration`.
"""

import sys

__version__ = "0.1.0"

if sys.modules.get("gymnasium"):  # None: importing it is forbidden
    from phonesim.gymnasium_registration import register_environments

    register_environments()
