"""DistRL: asynchronous, distributed reinforcement learning for agents that operate phones.

Importing this package is light: no torch, no Ray, no drawing. Take what you need from its folders.
"""

__version__ = "0.1.0"
