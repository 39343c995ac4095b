"""Every error that DistRL raises on purpose, as one tree.

DistrlError
├── UsageError                what was asked for makes no sense; asking again will not help
│   ├── InvalidAction         an action that no screen can take (a coordinate outside [0, 1])
│   ├── InvalidSetting        a setting out of its range
│   ├── UnknownTask           no task of that name, split or number
│   ├── UnknownApp            no app of that name on this phone
│   ├── CorruptSnapshot       bytes that are not a snapshot, or not one of this version
│   ├── CorruptCheckpoint     a checkpoint that is damaged, incomplete, or of something else
│   └── DeviceNotReady        a device used before its first reset
└── WorldError                the world failed; the episode ends with its own typed ending
    ├── DeviceError
    │   ├── DeviceTimeout     the device did not answer before the deadline (frozen)
    │   ├── DeviceDisconnected  the connection is gone
    │   ├── AppCrashed        the app in front stopped
    │   ├── BlankScreen       the screen stayed black or white longer than the patience for it
    │   ├── TypingFailed      the keyboard took no text
    │   └── PageTimeout       a page did not load before the deadline
    └── JudgeError            no verdict could be had

Messages say what was tried, with which values, and what to do next.
"""


class DistrlError(Exception):
    """Root of everything that DistRL raises on purpose."""


class UsageError(DistrlError):
    """What was asked for makes no sense; the message says what would."""


class InvalidAction(UsageError):
    """An action that no screen can take."""


class InvalidSetting(UsageError):
    """A setting out of its range."""


class UnknownTask(UsageError):
    """No task of that name, split or number."""


class UnknownApp(UsageError):
    """No app of that name on this phone."""


class CorruptSnapshot(UsageError):
    """Bytes that are not a snapshot of this version."""


class CorruptCheckpoint(UsageError):
    """A checkpoint that is damaged, incomplete, of another version or of another learner."""


class DeviceNotReady(UsageError):
    """A device was used before its first reset."""


class WorldError(DistrlError):
    """The world failed. Never turned into a reward of 0: the episode gets its own ending."""


class DeviceError(WorldError):
    """The device failed."""


class DeviceTimeout(DeviceError):
    """The device did not answer before the deadline."""


class DeviceDisconnected(DeviceError):
    """The connection to the device is gone."""


class AppCrashed(DeviceError):
    """The app in front stopped."""


class BlankScreen(DeviceError):
    """The screen stayed black or white for too long."""


class TypingFailed(DeviceError):
    """The keyboard took no text."""


class PageTimeout(DeviceError):
    """A page did not load before the deadline."""


class JudgeError(WorldError):
    """No verdict could be had."""
