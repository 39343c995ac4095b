"""Phones and other devices for other trainers: Gymnasium, OpenEnv, verifiers and CUBE.

Each module needs the package of its extra (`distrl[gym]`, `[openenv]`, `[verifiers]`, `[cube]`),
raises `NotInstalled` without it, and adds nothing to what a device does: tools, tasks and verdicts
are those of `distrl.episodes`.
"""
