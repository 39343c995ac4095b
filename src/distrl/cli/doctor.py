"""`distrl doctor`: what this machine has and lacks for DistRL, and what to do about it.

Every finding has a verdict: good; a note (it works, but you may want to know); or lacking (whatever
needs it will not run). torch is probed in a child process: it must not be loaded here, and on some
machines a single bf16 matrix product kills the process that runs it.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from distrl import plugins
from distrl.devices.adb.android_tools import Tool, find_tool
from distrl.devices.browser.chromium import draws_on_demand, find_chromium
from distrl.errors import INSTALL_LEARN, DistrlError, NotInstalled
from distrl.plugin_shape import KINDS
from distrl.process_environment import WANTED, available_memory, missing
from distrl.processor import usable_cores

Verdict = Literal["good", "note", "lacking"]
MARKS: dict[Verdict, str] = {"good": "[green]✓[/]", "note": "[yellow]•[/]", "lacking": "[red]✗[/]"}
OLDEST_PYTHON = (3, 11)
LEAST_MEMORY, LEAST_DISK, LEAST_FILES = 4 * 2**30, 2 * 2**30, 1024
PATIENCE = 120.0  # seconds for a process that loads torch
PROBE = """
import json, torch
gpus = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
print(json.dumps({"version": torch.__version__, "threads": torch.get_num_threads(),
    "built_for": torch.version.cuda, "gpus": [[g.name, g.total_memory] for g in gpus],
    "mps": torch.backends.mps.is_available()}))
"""
BF16 = "import torch; x = torch.ones(64, 64, dtype=torch.bfloat16); print(float((x @ x)[0, 0]))"
OPTIONAL = {  # package: what is missing without it, and the extra that installs it
    "transformers": ("no models but the tabular one", "distrl[learn]"),
    "peft": ("no LoRA adapters", "distrl[learn]"),
    "tensorboard": ("training writes TensorBoard files", "distrl[learn]"),
    "pyarrow": ("no export to Parquet", "distrl[data]"),
    "gymnasium": ("no Gymnasium environments", "distrl[gym]"),
    "ray": ("one machine only, no cluster", "distrl[ray]"),
    "miniwob": ("no MiniWoB++ pages as tasks", "distrl[miniwob]"),
    "wandb": ("no Weights & Biases", "wandb"),
}

ANDROID = {"adb": "phones on adb", "emulator": "emulators of our own"}


def doctor(
    config: Annotated[
        Path | None,
        typer.Argument(help="Settings of a run: check also what it needs (judge, phones, memory)."),
    ] = None,
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Examine the nodes of a Ray cluster instead.")
    ] = False,
    address: Annotated[
        str,
        typer.Option(
            help="Address of the cluster: HOST:PORT, or auto for the one on this machine."
        ),
    ] = "auto",
) -> None:
    """Check what this machine, or a Ray cluster, has and lacks for DistRL."""
    if cluster:
        from distrl.cli.cluster_doctor import show_cluster_doctor

        raise typer.Exit(0 if show_cluster_doctor(Console(), address) else 1)
    raise typer.Exit(0 if show_doctor(Console(), config=config) else 1)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    what: str
    verdict: Verdict
    found: str
    advice: str = ""


def show_doctor(console: Console, folder: Path = Path(), config: Path | None = None) -> bool:
    """Print every finding; return False if anything is lacking."""
    found = list(examine(folder))
    if config is not None:
        found += run_findings(config, folder)
    console.print(finding_table(found), highlight=False)
    lacking = [finding.what for finding in found if finding.verdict == "lacking"]
    ready = "Ready: `distrl train` will run here."
    console.print(f"\nLacking: {', '.join(lacking)}." if lacking else f"\n{ready}", highlight=False)
    return not lacking


def finding_table(found: Iterable[Finding]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for style in ("", "bold", ""):
        table.add_column(style=style, overflow="fold")
    for finding in found:
        advice = f"\n[dim]{escape(finding.advice)}[/]" if finding.advice else ""
        table.add_row(MARKS[finding.verdict], finding.what, escape(finding.found) + advice)
    return table


def examine(folder: Path = Path()) -> Iterator[Finding]:
    """Run every check; `folder` is where runs would be stored."""
    from phonesim.drawing.world_text import missing_fonts

    yield python_finding(sys.version_info[:3])
    yield cores_finding(usable_cores())
    yield memory_finding(available_memory())
    yield disk_finding(folder, shutil.disk_usage(folder).free)
    yield files_finding(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    yield from torch_findings(ask_torch(PROBE, os.environ))
    bare = {name: value for name, value in os.environ.items() if name not in WANTED}
    yield bf16_finding(ask_torch(BF16, bare), ask_torch(BF16, {**bare, **WANTED}))
    for package, (without, extra) in OPTIONAL.items():
        yield package_finding(package, version_of(package), without, extra)
    yield pictures_finding(version_of("transformers"), version_of("torchvision"))
    yield scripts_finding(missing_fonts())
    yield environment_finding(os.environ)
    yield from android_findings(os.environ)
    yield kvm_finding(Path("/dev/kvm"))
    yield chromium_finding(os.environ)
    yield from plugin_findings()


def run_findings(config: Path, folder: Path) -> Iterator[Finding]:
    """Run the checks that a run with these settings makes before its start (`preflight`)."""
    from distrl.config.training_config import load_config
    from distrl.engine.run.preflight import checks

    for check in checks(load_config(config), folder):
        try:
            warning = check.ask()
        except DistrlError as error:
            yield Finding(str(check), "lacking", str(error))
        else:
            yield Finding(str(check), "note" if warning else "good", warning or "as needed")


def python_finding(version: tuple[int, ...]) -> Finding:
    found = ".".join(map(str, version))
    if version < OLDEST_PYTHON:
        return Finding("Python", "lacking", found, "install Python 3.11 or newer")
    return Finding("Python", "good", f"{found} on {platform.system()} {platform.machine()}")


def cores_finding(cores: int) -> Finding:
    if cores < 2:
        advice = "learner and collectors take turns on one core: expect half the pace"
        return Finding("processor", "note", "1 core", advice)
    return Finding("processor", "good", f"{cores} cores")


def memory_finding(available: int) -> Finding:
    found = f"{available / 2**30:.1f} GB available"
    if available < LEAST_MEMORY:
        advice = "lower replay.byte_limit and devices.count; `distrl train --dry-run` estimates"
        return Finding("memory", "note", found, advice)
    return Finding("memory", "good", found)


def disk_finding(folder: Path, free: int) -> Finding:
    found = f"{free / 2**30:.1f} GB free at {folder.resolve()}"
    if free < LEAST_DISK:
        advice = "make room, or keep runs elsewhere: --set run.directory=/other/disk"
        return Finding("disk", "lacking", found, advice)
    if not os.access(folder, os.W_OK):
        return Finding("disk", "lacking", found, "it may not be written to; go to another folder")
    return Finding("disk", "good", found)


def files_finding(limit: int) -> Finding:
    if 0 <= limit < LEAST_FILES:
        advice = "many devices need more: ulimit -n 65536"
        return Finding("open files", "note", f"{limit} at most", advice)
    return Finding("open files", "good", f"{limit} at most" if limit >= 0 else "no limit")


def ask_torch(code: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `code` in a new process; a timeout after `PATIENCE` counts as a failure."""
    command = [sys.executable, "-c", code]
    try:
        return subprocess.run(
            command, env=dict(environment), capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer within {PATIENCE:g} s")


def torch_findings(asked: subprocess.CompletedProcess[str]) -> Iterator[Finding]:
    if asked.returncode != 0:
        why = (asked.stderr.strip().splitlines() or [f"exit code {asked.returncode}"])[-1]
        yield Finding("torch", "lacking", why, INSTALL_LEARN)
        return
    told: dict[str, Any] = json.loads(asked.stdout.splitlines()[-1])
    yield Finding("torch", "good", f"{told['version']}, {told['threads']} threads")
    gpus = ", ".join(f"{name} ({size / 2**30:.0f} GB)" for name, size in told["gpus"])
    if gpus:
        yield Finding("GPU", "good", f"{gpus}, CUDA {told['built_for']}")
    elif told.get("mps"):
        advice = "keep to agent.policy.device=cpu, which is tested; to try it all the same: mps"
        yield Finding("GPU", "note", "Apple's (MPS), on which nothing was ever run", advice)
    elif Path("/dev/nvidia0").exists():
        advice = "torch was built without CUDA, or for a newer driver: install a fitting wheel"
        yield Finding("GPU", "note", "there is one, but torch does not see it", advice)
    else:
        advice = "the starter model trains on a processor; larger ones want a GPU"
        yield Finding("GPU", "note", "none", advice)


def bf16_finding(
    bare: subprocess.CompletedProcess[str], full: subprocess.CompletedProcess[str]
) -> Finding:
    """Report whether a bf16 product kills the process, as where AMX is listed but cannot be run.

    `bare` ran it without the variables of `WANTED`, `full` with them.
    """
    if bare.returncode == 0:
        return Finding("bf16 on the processor", "good", "works")
    if full.returncode == 0:
        return Finding(
            "bf16 on the processor",
            "note",
            f"ends the process ({_ended(bare.returncode)}) unless ONEDNN_MAX_CPU_ISA is set",
            "`distrl` sets it for itself; your own programs need ONEDNN_MAX_CPU_ISA="
            f"{WANTED['ONEDNN_MAX_CPU_ISA']} in their environment",
        )
    advice = "keep to float32 on the processor: agent.policy.weights=float32"
    return Finding("bf16 on the processor", "note", f"fails ({_ended(full.returncode)})", advice)


def _ended(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def package_finding(package: str, version: str | None, without: str, extra: str) -> Finding:
    if version is not None:
        return Finding(package, "good", version)
    needed = extra == "distrl[learn]"
    verdict: Verdict = "lacking" if needed else "note"
    return Finding(package, verdict, f"not installed: {without}", f"pip install '{extra}'")


def pictures_finding(transformers: str | None, torchvision: str | None) -> Finding:
    """Report whether transformers can preprocess images: before 5.22 it needs torchvision."""
    what = "pictures for models"
    if transformers is None:
        return Finding(what, "lacking", "no transformers", "pip install 'distrl[learn]'")
    major, minor = (int(part) for part in transformers.split(".")[:2])
    if torchvision is None and (major, minor) < (5, 22):
        advice = "pip install 'transformers>=5.22', or a torchvision that fits torch"
        return Finding(what, "lacking", f"transformers {transformers}, no torchvision", advice)
    return Finding(what, "good", f"by {'torchvision' if torchvision else 'Pillow'}")


def scripts_finding(missing: list[str]) -> Finding:
    """Report missing fonts: the simulated phone draws characters without a font as boxes."""
    what = "scripts of the simulated phone"
    if not missing:
        return Finding(what, "good", "Chinese, Japanese, Korean, Arabic, Hebrew, Devanagari")
    found = f"Latin, Greek and Cyrillic; others are boxes without {', '.join(missing)}"
    return Finding(what, "note", found, "pip install 'distrl[world]'")


def environment_finding(environment: Mapping[str, str]) -> Finding:
    if "PYTHONDONTWRITEBYTECODE" in environment:
        advice = "every process compiles all of it anew: unset PYTHONDONTWRITEBYTECODE"
        return Finding("environment", "note", "nothing is ever compiled to disk", advice)
    lacking = missing(environment)
    if lacking:
        said = "`distrl` sets them for itself by starting anew; set them for your own programs"
        return Finding("environment", "note", f"{', '.join(lacking)} not set", said)
    return Finding("environment", "good", "all variables set")


def android_findings(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Look for adb and the emulator, which only handsets and emulators need."""
    tools: tuple[Tool, ...] = ("adb", "emulator")
    for tool in tools:
        try:
            found = find_tool(tool, environment)
        except NotInstalled as error:
            yield Finding(tool, "note", f"not found: no {ANDROID[tool]}", str(error))
            continue
        on_path = shutil.which(tool, path=environment.get("PATH", ""))
        advice = "" if on_path or tool != "adb" else "not on the PATH: type `distrl adb …` for adb"
        yield Finding(tool, "good", str(found), advice)


def chromium_finding(environment: Mapping[str, str]) -> Finding:
    """Look for Chromium, which only web pages as devices need."""
    try:
        found = find_chromium(environment)
    except NotInstalled as error:
        return Finding("Chromium", "note", "not found: no web pages as devices", str(error))
    if draws_on_demand(found):
        return Finding("Chromium", "good", str(found))
    advice = "chromium-headless-shell draws on demand: a step takes less than half the time"
    return Finding("Chromium", "note", f"{found}, which draws 60 times a second", advice)


def plugin_findings() -> Iterator[Finding]:
    """List the plug-ins of installed packages, and those that are broken."""
    for kind in KINDS:
        for each in plugins.plugins(kind):
            yield Finding(f"plug-in {kind}", "good", f"{each.name}, of {each.source}")
    for broken in plugins.broken():
        advice = "the rest works; mend that package, or uninstall it"
        yield Finding(f"plug-in {broken.kind}", "note", str(broken), advice)


def kvm_finding(device: Path) -> Finding:
    if not device.exists():
        return Finding("KVM", "note", "none", "emulators would be slow here; handsets are not")
    if not os.access(device, os.R_OK | os.W_OK):
        advice = "sudo gpasswd -a $USER kvm, then log in again"
        return Finding("KVM", "note", f"{device} may not be used", advice)
    return Finding("KVM", "good", str(device))
