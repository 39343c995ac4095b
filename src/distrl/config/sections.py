"""Settings that belong to no single component: run, devices, judge, agent, collection, engine.

Every field has a unit and a range, choices or a meaning, and a default that runs on the simulated
phone. Components with settings of their own (replay buffer, learner, an algorithm) define them as
dataclasses in their modules; `TrainingConfig` has them as further sections.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from distrl import plugins
from distrl.agent.vlm_settings import VlmSettings
from distrl.bounds import Bounds, Checked, Fixed, Meaning, PartName, check_bounds
from distrl.devices.adb.android_settings import AndroidSettings
from distrl.devices.browser.browser_settings import BrowserSettings
from distrl.errors import InvalidSetting
from distrl.plugin_shape import BUILT_IN
from distrl.records import Split
from phonesim.display import Display, read_display
from phonesim.drift import NO_DRIFT, Drift
from phonesim.faults import Faults

LatencyName = Literal["none", "paper_emulator", "snapshot_emulator", "event_driven"]
ClockKind = Literal["virtual", "scaled", "real"]
CollectionMode = Literal["asynchronous", "synchronous", "one_process"]
EngineKind = Literal["local", "ray"]
PolicyHolder = Literal["auto", "collector", "node"]


@dataclass(frozen=True, slots=True)
class RunSettings(Checked):
    """Where a run is stored, and when it ends: at the first limit that it reaches."""

    name: Annotated[
        str, Meaning("1 to 80 letters, digits, hyphens and underscores", r"[A-Za-z0-9_-]{1,80}")
    ] = "train"  # prefix of its directory's name, before the date
    directory: Annotated[str, Meaning("a folder for run directories, such as runs", r"(?s:.+)")] = (
        "runs"
    )
    seed: Annotated[int, Bounds(0, 2**31 - 1, "(seed of everything that is drawn)")] = 0
    minutes: Annotated[float, Bounds(0.01, unit="minutes of training")] = 8.0
    trajectories: Annotated[int | None, Bounds(1, unit="trajectories")] = None
    updates: Annotated[int | None, Bounds(1, unit="updates")] = None
    checkpoint_minutes: Annotated[float, Bounds(0.01, 1e4, "minutes between checkpoints")] = 2.0
    free_gigabytes: Annotated[float, Bounds(0.0, 1e6, "gigabytes left on the disk")] = 1.0


@dataclass(frozen=True, slots=True)
class DeviceSettings:
    """The phones. Latency, clock, drift and faults apply to simulated phones only.

    adb: phones that adb lists, including handsets. emulator: emulators that DistRL boots and keeps
    running (`devices.android.emulator`). android_world: the containers of `tasks.android_world`.
    browser: pages of a headless Chromium.
    """

    kind: Annotated[str, PartName("device")] = "simulated"
    count: Annotated[int, Bounds(1, 100_000, "devices")] = 8
    spares: Annotated[int, Bounds(0, 4096, "devices kept ready for those that fail")] = 0
    serials: Annotated[
        tuple[str, ...], Meaning("of adb devices; empty: all that `adb devices` lists")
    ] = ()
    latency: Annotated[LatencyName, Meaning("how long a simulated phone takes")] = "none"
    clock: Annotated[ClockKind, Meaning("whether its waits are slept")] = "virtual"
    clock_speed: Annotated[float, Bounds(0.001, 1e6, "device seconds per real second")] = 50.0
    drift: Annotated[
        bool, Meaning("simulated phones differ in look, layout, app versions, pop-ups and ads")
    ] = True
    event_rate: Annotated[
        float, Bounds(0.0, 1.0, "events per 5 s of a simulated phone's clock; above 0 time passes")
    ] = 0.0
    screen: Annotated[str, Meaning("of a simulated phone: width x height @ density, 1 to 3")] = (
        "360x720@1"
    )
    languages: Annotated[
        tuple[str, ...], Meaning("simulated phones start in one of these, by their seed")
    ] = ("English",)
    options: Annotated[
        Mapping[str, str], Meaning("what a registered device is made with, by name")
    ] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    android: AndroidSettings = field(default_factory=AndroidSettings)  # for adb and emulator
    browser: BrowserSettings = field(default_factory=BrowserSettings)

    @property
    def phone_drift(self) -> Drift:
        """The drift of simulated phones, with event rate and languages."""
        drift = Drift() if self.drift else NO_DRIFT
        return replace(drift, event_rate=self.event_rate, languages=self.languages)

    @property
    def display(self) -> Display:
        """The screen of simulated phones."""
        return read_display(self.screen)

    @property
    def is_dry(self) -> bool:
        """Whether phones are only observed: no action is carried out, judged or learned from."""
        return self.kind == "adb" and self.android.safety.dry_run

    def __post_init__(self) -> None:
        check_bounds(self)
        _ = self.display, self.phone_drift  # these raise if screen or languages are invalid
        if self.options and self.kind in BUILT_IN["device"]:
            raise InvalidSetting(
                f"options={dict(self.options)} with kind={self.kind!r}; they are for devices that "
                "others have registered"
            )
        if self.serials and self.kind != "adb":
            raise InvalidSetting(
                f"serials={list(self.serials)} with kind={self.kind!r}; only adb devices have them"
            )
        if self.serials and len(self.serials) < self.count + self.spares:
            raise InvalidSetting(
                f"serials={list(self.serials)} for count={self.count} and spares={self.spares}; "
                "name as many as are wanted, or want fewer"
            )
        if len(set(self.serials)) < len(self.serials):
            raise InvalidSetting(f"serials={list(self.serials)}; name each phone once")


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """The judge, which decides whether a task was done. Prices and costs are in one currency.

    facts: the facts of a simulated phone; exact, during the episode. android_world: AndroidWorld's
    own scores, during the episode. page: the result that a web page, or its task, reports. vlm: a
    vision-language model behind a server, after the episode, while the phones play the next ones.
    The other settings are for vlm only; its API key comes from the environment variable
    `DISTRL_JUDGE_KEY`.
    """

    kind: Annotated[str, PartName("judge")] = "facts"
    server: Annotated[str, Meaning("an OpenAI-compatible url, up to and with /v1")] = ""
    model: Annotated[str, Meaning("name of the model on that server")] = ""
    examples: Annotated[str, Meaning("a TOML file of examples for the prompt; empty: ours")] = ""
    last_screens: Annotated[int, Bounds(1, 64, "last screens that the judge sees")] = 2
    deadline_seconds: Annotated[float, Bounds(0.1, 3600.0, "seconds for an answer")] = 120.0
    tries: Annotated[int, Bounds(1, 1000, "tries within the deadline")] = 5
    at_once: Annotated[int, Bounds(1, 1024, "requests at once")] = 16
    max_waiting: Annotated[
        int, Bounds(1, 10**5, "unjudged trajectories, then no episode starts")
    ] = 256
    requests_per_minute: Annotated[float, Bounds(0.001, unit="requests a minute")] = math.inf
    burst: Annotated[
        int, Bounds(1, 10**5, "requests"), Fixed("requests_per_minute says it in a run")
    ] = 1  # requests at once after a pause; set by `distrl rescore`
    max_cost: Annotated[float, Bounds(0.0, unit="in all; then no request is made")] = math.inf
    prompt_price: Annotated[float, Bounds(0.0, 1e6, "per million tokens")] = 0.0
    answer_price: Annotated[float, Bounds(0.0, 1e6, "per million tokens")] = 0.0
    second_model: Annotated[str, Meaning("also judges second_share of the trajectories")] = ""
    second_server: Annotated[str, Meaning("its url; empty: the same server")] = ""
    second_share: Annotated[float, Bounds(0.0, 1.0, "of the trajectories")] = 0.1

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.kind == "vlm" and not (self.server and self.model):
            raise InvalidSetting(
                f"server={self.server!r} and model={self.model!r} with kind='vlm'; name a server, "
                "such as http://localhost:8000/v1, and the model that judges there"
            )

    @property
    def later(self) -> bool:
        """Whether verdicts come after the episode, from the trajectory alone."""
        return self.kind == "vlm" or (self.is_registered and not self._judges_on_device)

    @property
    def is_registered(self) -> bool:
        """Whether the judge is a registered plug-in (`plugins`)."""
        return self.kind not in BUILT_IN["judge"]

    @property
    def _judges_on_device(self) -> bool:
        return isinstance(plugins.find("judge", self.kind), type)


@dataclass(frozen=True, slots=True)
class AgentSettings(Checked):
    """The model. Section `policy` has its prompt, its trained parameters and its torch device."""

    model: Annotated[
        str, Meaning("starter, or a directory that holds a model in Hugging Face's format", ".+")
    ] = "starter"
    adapter: Annotated[
        str, Meaning("a directory with a PEFT adapter to continue from; empty: none")
    ] = ""
    dialect: Annotated[str, PartName("dialect", "that of the model's family")] = ""
    sees: Annotated[
        Literal["auto", "screen", "elements", "both"],
        Meaning("of a phone: its picture, the elements on it, or both; auto: usual for the model"),
    ] = "auto"
    server: Annotated[
        str, Meaning("url of a vLLM or SGLang that decides for collectors, up to and with /v1")
    ] = ""
    policy: VlmSettings = field(default_factory=VlmSettings)

    @property
    def chosen_sees(self) -> Literal["screen", "elements", "both"] | None:
        """`sees`; None for auto, the usual choice for the model."""
        return None if self.sees == "auto" else self.sees


@dataclass(frozen=True, slots=True)
class CollectionSettings:
    """The collectors. With mode `one_process`, learner and collector take turns in one process, for
    debugging and reproducibility.
    """

    mode: Annotated[CollectionMode, Meaning("whether episodes wait for updates")] = "asynchronous"
    collectors: Annotated[int, Bounds(0, 1024, "processes; 0: only those that join")] = 1
    stop_on_success: Annotated[
        bool, Meaning("the judge ends an episode as soon as the task is done")
    ] = False
    forks: Annotated[int, Bounds(0, 1000, "continuations of each episode, if simulated")] = 0
    episode_seconds: Annotated[
        float, Bounds(1.0, 1e6, "seconds for boot, reset, episode and judging on a real phone")
    ] = 1800.0
    heartbeat_seconds: Annotated[float, Bounds(0.1, 3600.0, "seconds between heartbeats")] = 5.0
    restarts: Annotated[int, Bounds(0, 1000, "restarts of a collector")] = 5
    threads: Annotated[int, Bounds(1, 1024, "threads each collector computes with")] = 1

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.mode == "one_process" and self.collectors != 1:
            raise InvalidSetting(
                f"collectors={self.collectors} with mode='one_process'; there is room for 1"
            )


@dataclass(frozen=True, slots=True)
class EvaluationSettings(Checked):
    """How success is measured: on tasks that training never saw, unless `split` is a split that
    training plays. The numbers of episodes apply to each environment.
    """

    before: Annotated[int, Bounds(0, 10**6, "episodes before training")] = 100
    after: Annotated[int, Bounds(0, 10**6, "episodes after training")] = 100
    every_minutes: Annotated[float | None, Bounds(0.1, 1e5, "minutes between evaluations")] = None
    every_episodes: Annotated[int, Bounds(1, 10**6, "episodes each time")] = 40
    split: Split = "test"
    greedy: Annotated[bool, Meaning("take the likeliest token instead of sampling")] = False

    @property
    def measures(self) -> bool:
        """Whether there are any evaluations."""
        return bool(self.before or self.after) or self.every_minutes is not None


@dataclass(frozen=True, slots=True)
class ReportingSettings(Checked):
    """Output for people. Metrics always go to a file and to TensorBoard as well."""

    wandb: Annotated[bool, Meaning("send metrics to Weights & Biases as well")] = False
    recordings: Annotated[int, Bounds(0, 100, "episodes in the report")] = 8
    line_seconds: Annotated[float, Bounds(0.1, 3600.0, "seconds between plain lines")] = 15.0


@dataclass(frozen=True, slots=True)
class JoinSettings(Checked):
    """Collectors on other machines, which reach the learner over TLS only; see `engine.join`."""

    listen: Annotated[
        str,
        Meaning(
            "HOST:PORT to listen on for `distrl collect --join`; empty: nobody can join",
            r"|(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):\d{1,5}",
        ),
    ] = ""
    identity: Annotated[
        str, Meaning("a folder for certificate, key and token; empty: join/ in the run directory")
    ] = ""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The engine. `join` applies to the local engine; all others but `kind` and `policy` to Ray."""

    kind: EngineKind = "local"
    address: Annotated[
        str, Meaning("of a Ray cluster: host:port or auto; empty: a private one on this machine")
    ] = ""
    phones: Annotated[
        str,
        Meaning(
            "name of the Ray resource of nodes with phones; auto: phone, or CPUs if none has it",
            r"[A-Za-z][A-Za-z0-9_-]{0,60}",
        ),
    ] = "auto"
    policy: Annotated[
        PolicyHolder,
        Meaning(
            "who has the policy; node: one process for all collectors of a machine; auto: that on "
            "a GPU of this machine, else each collector"
        ),
    ] = "auto"
    collector_gpus: Annotated[float, Bounds(0.0, 8.0, "GPUs for each collector's policy")] = 0.0
    server_gpus: Annotated[float, Bounds(0.0, 1.0, "of a GPU for each node's server")] = 1.0
    shared_storage: Annotated[bool, Meaning("run.directory is on a disk that every node sees")] = (
        False
    )
    join: JoinSettings = field(default_factory=JoinSettings)

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.join.listen and self.kind != "local":
            raise InvalidSetting(
                f"join.listen={self.join.listen!r} with kind={self.kind!r}; on a cluster machines "
                "join by `distrl cluster join`: leave it out, or give the engine local"
            )
        if self.policy == "node" and self.collector_gpus:
            raise InvalidSetting(
                f"collector_gpus={self.collector_gpus!r} with policy='node'; collectors have no "
                "policy then: give server_gpus instead"
            )
