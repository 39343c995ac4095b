"""DistRL: asynchronous, distributed reinforcement learning for agents that operate phones.

Importing this package is light: no numpy, no torch, no Ray, no drawing. Take what you need from its
folders.
"""

from distrl.gymnasium_registration import register_when_ready

__version__ = "0.1.0"

register_when_ready()
