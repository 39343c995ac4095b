"""Every error that DistRL raises on purpose, as one tree.

DistrlError
├── UsageError                an invalid request; a retry will not help
│   ├── InvalidAction         an action with impossible arguments (a coordinate outside [0, 1])
│   ├── InvalidSetting        a setting out of its range
│   ├── UnknownTask           no task of that name, split or number
│   ├── UnknownApp            no app of that name on this phone
│   ├── OtherSettings         a resume of something that was started with other settings
│   ├── NotInstalled          a package of an optional extra is not installed
│   ├── InvalidPlugin         a registered part that lacks the interface of its kind
│   ├── UnknownPlugin         no registered part of that name, or a broken one
│   ├── UnusableModel         a model from which no policy can be made
│   │   ├── NotAModel         no model of that name, or a directory that holds none
│   │   ├── UnknownModelFamily  a model of a family for which we cannot build inputs
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
│   └── DataLost              a run to resume has lost stored data
├── WorldError                something outside an episode failed; it gets its own typed ending
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
│   │   ├── BlankScreen       the screen stayed of one colour past the deadline
│   │   ├── TypingFailed      the keyboard did not accept the text
│   │   ├── PageTimeout       a page did not load before the deadline
│   │   └── PageUnreachable   a page could not be loaded: nobody serves it, or it is not allowed
│   ├── ActionFailed          the phone cannot do what the agent asked; the episode goes on
│   ├── ScreenRestless        no view hierarchy, since the screen moves all the time
│   ├── JudgeError            the judge has no verdict
│   │   └── DryRun            nothing was carried out, so there is nothing to judge
│   └── ChatServerError       the model server of a served policy or a judge failed
│       ├── ChatServerUnreachable  no answer before the deadline, despite retries
│       ├── RequestRefused    it refuses this request permanently (wrong API key, for example)
│       └── UnusableAnswer    it answered, but without the requested content
├── PolicyMismatch            collector and learner have different policies; the run is stopped
│   ├── WeightsDiffer         a collector acts with other weights than the learner published
│   ├── ScreensUnseen         the model of one side does not see the screens
│   └── LogProbsDiffer        the two sides compute different log-probabilities for equal answers
└── InfrastructureError       a machine or process of a run failed; the run can be resumed
    ├── ProcessError          a process of a run is gone
    │   ├── LearnerGone       the learner no longer answers its collectors
    │   ├── FollowerLost      a process that shares the learner's updates has ended
    │   ├── CollectorsLost    every collector has used up its restarts
    │   ├── EvaluationLost    the process of an evaluation ended before the evaluation did
    │   └── PolicyServerGone  the policy server of a node no longer answers
    ├── ClusterError          the Ray cluster of a run cannot be used
    │   ├── ClusterUnreachable  no Ray head answers there, or this machine is not one of its nodes
    │   ├── TokenRefused      it requires another token than ours, or we have none
    │   ├── VersionsDiffer    it has another version of Ray or Python than this machine
    │   └── ResourceMissing   its nodes together have less of a resource than requested
    ├── JoinError             a joining collector and the learner cannot work together
    │   ├── JoinRefused       the learner refuses a request of a joined collector
    │   └── WrongFingerprint  the server at that address is not the expected learner
    ├── TrackerError          Weights & Biases does not accept the metrics of a run
    ├── StorageError          a disk failed; the data was not stored and not acknowledged
    │   └── StorageFull       no space left on the disk, or a quota is used up
    └── DirectoryInUse        another process writes to that directory

Messages say what was tried, with which values, and what to do next.
"""

from __future__ import annotations

import errno


class DistrlError(Exception):
    """Base class of everything that DistRL raises on purpose."""


class UsageError(DistrlError):
    """An invalid request; the message says what would be valid."""


class InvalidAction(UsageError):
    """An action with impossible arguments, such as a coordinate outside [0, 1]."""


class InvalidSetting(UsageError):
    """A setting out of its range."""


class UnknownTask(UsageError):
    """No task of that name, split or number."""


class UnknownApp(UsageError):
    """No app of that name on this phone."""


class OtherSettings(UsageError):
    """A resume of something that was started with other settings."""


class InvalidPlugin(UsageError):
    """A registered part that lacks the interface of its kind, or whose name is taken."""


class UnknownPlugin(UsageError):
    """No registered part of that name in this process, or one that could not be loaded."""


class NotInstalled(UsageError):
    """A package of an optional extra is missing; the message says which extra to install."""


INSTALL_LEARN = (  # advice where torch is missing
    "pip install 'distrl[learn]' (without a GPU, first: pip install torch --index-url "
    "https://download.pytorch.org/whl/cpu)"
)


class UnusableModel(UsageError):
    """A model from which no policy can be made."""


class NotAModel(UnusableModel):
    """No model of that name, or a directory that holds none."""


class UnknownModelFamily(UnusableModel):
    """A model of a family for which we cannot build inputs."""


class MissingTokens(UnusableModel):
    """A tokenizer without the tokens that its model needs."""


class CorruptModel(UnusableModel):
    """Weights that are damaged, incomplete, or of another model."""


class ConsentMissing(UsageError):
    """The owner has not agreed that this phone may be operated; the message says how to agree."""


class DeviceNotReady(UsageError):
    """A device was used before its first reset."""


class CorruptData(DistrlError):
    """Stored data that cannot be used: damaged, incomplete, or written by another version."""


class CorruptSnapshot(CorruptData):
    """Bytes that are not a snapshot of this version."""


class CorruptCheckpoint(CorruptData):
    """A checkpoint that is damaged, incomplete, of another version or of another learner."""


class CorruptRecord(CorruptData):
    """Stored bytes that are no trajectory, or one of an unknown version."""


class CorruptWeights(CorruptData):
    """Published weights that are damaged or gone."""


class CorruptLog(CorruptData):
    """A line of a run's own log (metrics, episodes, …) that cannot be read."""


class CorruptOutcomes(CorruptData):
    """A log of outcomes that cannot be read."""


class DataLost(CorruptData):
    """A run to resume has lost stored data: trajectories, checkpoints, or logs."""


class WorldError(DistrlError):
    """Something outside an episode failed: it gets its own ending, never a reward of 0."""


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
    """The screen stayed of one colour for too long."""


class TypingFailed(DeviceError):
    """The keyboard did not accept the text."""


class PageTimeout(DeviceError):
    """A page did not load before the deadline."""


class PageUnreachable(DeviceError):
    """A page could not be loaded: nobody serves it, or its origin is not allowed."""


class ActionFailed(WorldError):
    """The phone cannot carry out the action; it is unchanged, and the episode goes on."""


class ScreenRestless(WorldError):
    """No view hierarchy is available, since the screen never rests; the phone itself works."""


class JudgeError(WorldError):
    """The judge has no verdict."""


class DryRun(JudgeError):
    """Nothing was carried out, so there is nothing to judge."""


class ChatServerError(WorldError):
    """The model server of a served policy or a judge has failed."""


class ChatServerUnreachable(ChatServerError):
    """No answer before the deadline, despite retries."""


class RequestRefused(ChatServerError):
    """The server refuses this request permanently; the message says what would help.

    `status` is the HTTP status of its answer, or 0 if no status says so.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class UnusableAnswer(ChatServerError):
    """The server answered, but without the requested content."""


class PolicyMismatch(DistrlError):
    """The policy of a collector differs from the learner's; the message names the faulty side."""


class WeightsDiffer(PolicyMismatch):
    """A collector acts with other weights than those that the learner published."""


class ScreensUnseen(PolicyMismatch):
    """The model of one side, the learner or a collector, does not see the screens."""


class LogProbsDiffer(PolicyMismatch):
    """Collector and learner compute different log-probabilities for equal answers and weights."""


class InfrastructureError(DistrlError):
    """A machine or process of a run failed; once that is repaired, the run can be resumed."""


class ProcessError(InfrastructureError):
    """A process of a run is gone."""


class LearnerGone(ProcessError):
    """The learner no longer answers a collector; unacknowledged trajectories are not stored."""


class FollowerLost(ProcessError):
    """A process that shares the learner's updates (`learning.gpus`) has ended."""


class CollectorsLost(ProcessError):
    """Every collector has used up its restarts."""


class EvaluationLost(ProcessError):
    """The process of an evaluation during training ended before the evaluation was finished."""


class PolicyServerGone(ProcessError):
    """The policy server of a node has closed, died or stopped answering, without a decision."""


class ClusterError(InfrastructureError):
    """The Ray cluster of a run cannot be used."""


class ClusterUnreachable(ClusterError):
    """No Ray head answers at that address, or this machine is not one of its nodes."""


class TokenRefused(ClusterError):
    """The cluster requires another token than ours, or we have none."""


class VersionsDiffer(ClusterError):
    """The cluster has another version of Ray or Python than this machine."""


class ResourceMissing(ClusterError):
    """The cluster's nodes together have less of a resource than requested."""


class JoinError(InfrastructureError):
    """A collector of another machine and the learner cannot work together."""


class JoinRefused(JoinError):
    """The learner refuses a request of a joined collector; it counts refusals by `reason`."""

    def __init__(self, message: str, reason: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status  # HTTP status


class WrongFingerprint(JoinError):
    """The server at that address has another certificate than the expected learner."""


class TrackerError(InfrastructureError):
    """Weights & Biases does not accept the metrics of a run; the message says what would help."""


class StorageError(InfrastructureError):
    """A disk failed. The data was not stored and not acknowledged; keep it and try again."""


class StorageFull(StorageError):
    """No space left on the disk, or the limit for this user or this file is reached."""


class DirectoryInUse(InfrastructureError):
    """Another process writes to that directory, and only one may do so at a time."""


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # disk full, user quota, file size limit
TOO_MANY = (errno.EMFILE, errno.ENFILE)  # too many open files: in this process, on this machine
NO_MEMORY = (errno.ENOMEM, errno.EAGAIN)  # EAGAIN: the limit on processes is reached


def storage_error(error: OSError, tried: str) -> StorageError:
    """Convert a disk's `OSError` to a `StorageError`; `tried` says what was attempted."""
    said = f"{tried}: {error.strerror or error}"
    if error.errno in NO_SPACE:
        return StorageFull(f"{said}; make room there, or lower the byte limit, and try again")
    if error.errno in TOO_MANY:
        return StorageError(f"{said}; allow more (ulimit -n 65536), or ask for fewer devices")
    if error.errno in NO_MEMORY:
        return StorageError(f"{said}; see what is free and what is allowed (free, ulimit -a)")
    return StorageError(f"{said}; see that the disk is well and that we may write there")
