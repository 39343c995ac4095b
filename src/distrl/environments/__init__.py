"""The phone for other trainers: adapters of `ToolEnvironment` to OpenEnv, verifiers and CUBE.

Each module needs the package of its extra (`distrl[openenv]`, `[verifiers]`, `[cube]`), raises
`NotInstalled` without it, and adds nothing to what the phone does: tools, tasks and verdicts are
those of `distrl.episodes.tool_environment`.
"""
