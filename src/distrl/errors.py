"""Every error that DistRL raises on purpose, as one tree.

DistrlError
├── UsageError                what was asked for makes no sense; asking again will not help
│   ├── InvalidAction         an action that no screen can take (a coordinate outside [0, 1])
│   ├── InvalidSetting        a setting out of its range
│   ├── UnknownTask           no task of that name, split or number
│   ├── UnknownApp            no app of that name on this phone
│   ├── OtherSettings         what is to be resumed was begun with other settings
│   ├── NotInstalled          a package of an optional extra is not installed
│   ├── InvalidPlugin         a registered part that is not of the shape of its kind
│   ├── UnknownPlugin         no registered part of that name, or a broken one
│   ├── UnusableModel         a model that no policy can be made of
│   │   ├── NotAModel         no model of that name, or a directory that holds none
│   │   ├── UnknownModelFamily  a model of a family that we have no inputs for
│   │   ├── MissingTokens     a tokenizer without the tokens that its model needs
│   │   └── CorruptModel      weights that are damaged, incomplete, or of another model
│   ├── ConsentMissing        the owner has not agreed that this phone may be operated
│   └── DeviceNotReady        a device used before its first reset
├── CorruptData               stored data that is damaged, incomplete, or of another version
│   ├── CorruptSnapshot       bytes that are not a snapshot, or not one of this version
│   ├── CorruptCheckpoint     a checkpoint that is damaged, incomplete, or of something else
│   ├── CorruptRecord         stored bytes that are no trajectory, or none of this version
│   ├── CorruptWeights        published weights that are damaged or gone
│   ├── CorruptLog            a line of a run's own log that cannot be read
│   ├── CorruptOutcomes       a log of outcomes that cannot be read
│   └── DataLost              a run to resume has less than it had
├── WorldError                what an episode needs failed; it ends with its own typed ending
│   ├── DeviceError
│   │   ├── DeviceTimeout     the device did not answer before the deadline (frozen)
│   │   ├── DeviceDisconnected  the connection is gone
│   │   │   ├── DeviceUnauthorized  the phone has not agreed to be debugged from this computer
│   │   │   ├── AdbServerGone   no adb server answers where it should be
│   │   │   ├── EmulatorStopped  the emulator's process has ended
│   │   │   └── BrowserStopped  the browser's process has ended
│   │   ├── CommandRefused    the phone answered a command with an error
│   │   ├── DeviceLocked      the phone asks for a PIN, a pattern or a password
│   │   ├── BrokenPicture     a screenshot that is half-written or no picture at all
│   │   ├── AppCrashed        the app in front stopped
│   │   ├── BlankScreen       the screen stayed black or white longer than the patience for it
│   │   ├── TypingFailed      the keyboard took no text
│   │   ├── PageTimeout       a page did not load before the deadline
│   │   └── PageUnreachable   a page could not be loaded: nobody serves it, or it is not allowed
│   ├── ActionFailed          the phone cannot do what the agent asked; the episode goes on
│   ├── ScreenRestless        no view hierarchy, since the screen moves all the time
│   ├── JudgeError            no verdict could be had
│   │   └── DryRun            nothing was carried out, so there is nothing to judge
│   └── ChatServerError       the server that a served policy or a judge asks
│       ├── ChatServerUnreachable  no answer before the deadline, however often it was tried
│       ├── RequestRefused    it will not answer this, now or later (a wrong key, say)
│       └── UnusableAnswer    it answered, but not with what was asked for
├── PolicyMismatch            what acts is not what learns: the run is stopped, nothing is learned
│   ├── WeightsDiffer         a collector acts with other weights than the learner published
│   ├── ScreensUnseen         the model of one side does not see the screens
│   └── LogProbsDiffer        both sides give the same answers other log-probabilities
└── InfrastructureError       a machine or process under a run failed; the run can be resumed
    ├── ProcessError          a process of a run is gone
    │   ├── LearnerGone       the learner no longer answers its collectors
    │   ├── FollowerLost      a process that shares the learner's updates has ended
    │   ├── CollectorsLost    every collector failed more often than it may be restarted
    │   ├── EvaluationLost    the process of an evaluation has ended before it was played
    │   └── PolicyServerGone  no policy server decides for the collectors of a node any more
    ├── ClusterError          the Ray cluster that a run is to be on
    │   ├── ClusterUnreachable  no Ray head answers at that address, or not to this machine
    │   ├── TokenRefused      it wants another token than ours, or we have none
    │   ├── VersionsDiffer    Ray or Python there is another than here
    │   └── ResourceMissing   its nodes together have less of something than was asked for
    ├── JoinError             a collector of another machine and the learner that it joins
    │   ├── JoinRefused       the learner will not have this request
    │   └── WrongFingerprint  whoever answers there is not the learner that was named
    ├── TrackerError          Weights & Biases will not take the metrics of a run
    ├── StorageError          a disk failed; what it was to keep is not acknowledged
    │   └── StorageFull       no space left, or no more of it for us
    └── DirectoryInUse        another process writes to that directory

Messages say what was tried, with which values, and what to do next.
"""

from __future__ import annotations

import errno


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


class OtherSettings(UsageError):
    """What is to be resumed was begun with other settings."""


class InvalidPlugin(UsageError):
    """A registered part that is not of the shape of its kind, or whose name is taken."""


class UnknownPlugin(UsageError):
    """No registered part of that name in this process, or one that could not be loaded."""


class NotInstalled(UsageError):
    """A package of an optional extra is not there; the message says which extra to install."""


INSTALL_LEARN = (  # for whom torch is missing
    "pip install 'distrl[learn]' (without a GPU, first: pip install torch --index-url "
    "https://download.pytorch.org/whl/cpu)"
)


class UnusableModel(UsageError):
    """A model that no policy can be made of."""


class NotAModel(UnusableModel):
    """No model of that name, or a directory that holds none."""


class UnknownModelFamily(UnusableModel):
    """A model of a family that we have no inputs for."""


class MissingTokens(UnusableModel):
    """A tokenizer without the tokens that its model needs."""


class CorruptModel(UnusableModel):
    """Weights that are damaged, incomplete, or of another model."""


class ConsentMissing(UsageError):
    """The owner has not agreed that this phone may be operated; the message says how to."""


class DeviceNotReady(UsageError):
    """A device was used before its first reset."""


class CorruptData(DistrlError):
    """Stored data that cannot be used: damaged, incomplete, or written by another version."""


class CorruptSnapshot(CorruptData):
    """Bytes that are not a snapshot of this version."""


class CorruptCheckpoint(CorruptData):
    """A checkpoint that is damaged, incomplete, of another version or of another learner."""


class CorruptRecord(CorruptData):
    """Stored bytes that are no trajectory, or one of a version that is not known here."""


class CorruptWeights(CorruptData):
    """Published weights that are damaged or gone."""


class CorruptLog(CorruptData):
    """A line of a run's own log (metrics, episodes, …) that cannot be read."""


class CorruptOutcomes(CorruptData):
    """A log of outcomes that cannot be read."""


class DataLost(CorruptData):
    """A run that is to be resumed has less than it had: trajectories, checkpoints, or its logs."""


class WorldError(DistrlError):
    """What an episode needs failed: never a reward of 0, the episode gets its own ending."""


class DeviceError(WorldError):
    """The device failed."""


class DeviceTimeout(DeviceError):
    """The device did not answer before the deadline."""


class DeviceDisconnected(DeviceError):
    """The connection to the device is gone."""


class DeviceUnauthorized(DeviceDisconnected):
    """The phone has not agreed to be debugged from this computer."""


class AdbServerGone(DeviceDisconnected):
    """No adb server answers where it should be."""


class EmulatorStopped(DeviceDisconnected):
    """The emulator's process has ended."""


class BrowserStopped(DeviceDisconnected):
    """The browser's process has ended."""


class CommandRefused(DeviceError):
    """The phone answered a command with an error."""


class DeviceLocked(DeviceError):
    """The phone asks for a PIN, a pattern or a password."""


class BrokenPicture(DeviceError):
    """A screenshot that is half-written, or no picture at all."""


class AppCrashed(DeviceError):
    """The app in front stopped."""


class BlankScreen(DeviceError):
    """The screen stayed black or white for too long."""


class TypingFailed(DeviceError):
    """The keyboard took no text."""


class PageTimeout(DeviceError):
    """A page did not load before the deadline."""


class PageUnreachable(DeviceError):
    """A page could not be loaded: nobody serves it, or its origin is not allowed."""


class ActionFailed(WorldError):
    """The phone cannot do what the agent asked; it is as it was, and the episode goes on."""


class ScreenRestless(WorldError):
    """No view hierarchy could be had, since the screen moves all the time; the phone is well."""


class JudgeError(WorldError):
    """No verdict could be had."""


class DryRun(JudgeError):
    """Nothing was carried out, so there is nothing to judge."""


class ChatServerError(WorldError):
    """The server that a served policy or a judge asks has failed."""


class ChatServerUnreachable(ChatServerError):
    """No answer before the deadline, however often it was tried."""


class RequestRefused(ChatServerError):
    """The server will not answer this, now or later; the message says what would help.

    `status` is the HTTP status of its answer; 0: none that says so.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class UnusableAnswer(ChatServerError):
    """The server answered, but not with what was asked for."""


class PolicyMismatch(DistrlError):
    """What acts is not what learns; the message names the side."""


class WeightsDiffer(PolicyMismatch):
    """A collector acts with other weights than those that the learner published."""


class ScreensUnseen(PolicyMismatch):
    """The model of one side, the learner or a collector, does not see the screens."""


class LogProbsDiffer(PolicyMismatch):
    """Acting and learning give the same answers, by the same weights, other log-probabilities."""


class InfrastructureError(DistrlError):
    """A machine or process under a run failed; mended, the run can be resumed."""


class ProcessError(InfrastructureError):
    """A process of a run is gone."""


class LearnerGone(ProcessError):
    """The learner no longer answers a collector; what was not acknowledged is not stored."""


class FollowerLost(ProcessError):
    """A process that shares the learner's updates (`learning.gpus`) has ended."""


class CollectorsLost(ProcessError):
    """Every collector failed more often than it may be restarted."""


class EvaluationLost(ProcessError):
    """The process that played an evaluation beside training has ended before its end."""


class PolicyServerGone(ProcessError):
    """The policy server of a node has closed, died or stopped answering; it gave no decision."""


class ClusterError(InfrastructureError):
    """The Ray cluster that a run is to be on cannot be used."""


class ClusterUnreachable(ClusterError):
    """No Ray head answers at that address, or this machine is none of its nodes."""


class TokenRefused(ClusterError):
    """The cluster wants another token than ours, or we have none to show."""


class VersionsDiffer(ClusterError):
    """Ray or Python on the cluster is another than here."""


class ResourceMissing(ClusterError):
    """The cluster's nodes together have less of a resource than was asked for."""


class JoinError(InfrastructureError):
    """A collector of another machine and the learner cannot work together."""


class JoinRefused(JoinError):
    """The learner refuses a request of a joined collector; `reason` is what it counts it as."""

    def __init__(self, message: str, reason: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status  # of HTTP


class WrongFingerprint(JoinError):
    """Whoever answers at that address has another certificate than the learner that was named."""


class TrackerError(InfrastructureError):
    """Weights & Biases will not take the metrics of a run; the message says what would help."""


class StorageError(InfrastructureError):
    """A disk failed. What it was to keep is not acknowledged; keep it and try again."""


class StorageFull(StorageError):
    """No space left on the disk, or no more of it for this user or this file."""


class DirectoryInUse(InfrastructureError):
    """Another process writes to that directory, and there may be only one."""


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of the disk, the user's share, one file
TOO_MANY = (errno.EMFILE, errno.ENFILE)  # open files: of this process, of this machine
NO_MEMORY = (errno.ENOMEM, errno.EAGAIN)  # or no more processes


def storage_error(error: OSError, tried: str) -> StorageError:
    """An `OSError` of a disk as one of ours; `tried` says what was attempted."""
    said = f"{tried}: {error.strerror or error}"
    if error.errno in NO_SPACE:
        return StorageFull(f"{said}; make room there, or lower the byte limit, and try again")
    if error.errno in TOO_MANY:
        return StorageError(f"{said}; allow more (ulimit -n 65536), or ask for fewer devices")
    if error.errno in NO_MEMORY:
        return StorageError(f"{said}; see what is free and what is allowed (free, ulimit -a)")
    return StorageError(f"{said}; see that the disk is well and that we may write there")
