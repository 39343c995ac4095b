"""Adapters to and from DeepMind's AndroidEnv."""

from importlib.util import find_spec

from distrl.errors import NotInstalled

if find_spec("android_env") is None:
    raise NotInstalled(
        "AndroidEnv's adapters need the package android_env: pip install 'distrl[android-env]'"
    )
