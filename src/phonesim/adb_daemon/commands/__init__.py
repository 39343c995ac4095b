"""Every command that a served phone's shell knows, by name. There are no others.

A command is a function `(handset, words, given) -> Result`; a new one is a line in the table of
its module.
"""

from __future__ import annotations

from phonesim.adb_daemon.commands import (
    activity,
    device,
    dumpsys,
    file_commands,
    package,
    services,
    settings,
    text,
    touch,
    view,
)
from phonesim.adb_daemon.result import Command

COMMANDS: dict[str, Command] = {
    **text.COMMANDS,
    **file_commands.COMMANDS,
    **touch.COMMANDS,
    **view.COMMANDS,
    **activity.COMMANDS,
    **package.COMMANDS,
    **services.COMMANDS,
    **settings.COMMANDS,
    **device.COMMANDS,
    **dumpsys.COMMANDS,
}
