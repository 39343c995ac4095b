"""The reproducibility card of a run: what it was made with, so that it can be repeated.

`card.json` is written when a run begins. It has the version and commit of the code and whether it
was changed, packages, machine, seed, digests of settings, model, task files, corpus and adapter,
and plugins. A resumed run keeps it. `distrl reproduce RUN` compares it with the current
installation and machine, and repeats the run.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Self

import msgspec

import distrl
from distrl import plugins
from distrl.agent.loading import model_path
from distrl.agent.torch_device import gpu_names
from distrl.config.training_config import TrainingConfig
from distrl.errors import CorruptLog, UsageError
from distrl.plugin_shape import KINDS
from distrl.runs.checked_json import is_as_written, to_checked_json
from distrl.runs.run_directory import RunDirectory, write_whole

FILE = "card.json"
PACKAGES = (
    "torch", "transformers", "tokenizers", "peft", "safetensors", "numpy", "pillow", "ray",
    "msgspec", "zstandard",
)  # fmt: skip
WHOLE_BYTES = 2 << 30  # up to this size a model is hashed whole; above, only names and sizes
DATA_BYTES = 256 << 20  # likewise for a corpus, an adapter and task files
GIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class RunCard:
    """What a run was made with. Digests are BLAKE2b, empty where there was no such file."""

    version: str
    commit: str  # empty: the code is not in a git checkout
    clean: bool | None  # whether the checkout was unchanged; None: unknown
    python: str
    packages: dict[str, str]
    machine: dict[str, str]
    command: list[str]
    seed: int
    settings: str
    model: str
    task_files: dict[str, str]
    plugins: list[str]
    data: dict[str, str] = field(default_factory=dict)  # digests, by the setting that names it

    @classmethod
    def of(cls, config: TrainingConfig, run: RunDirectory) -> Self:
        """Make the card of a run that begins now, on this machine."""
        commit, clean = code_state(Path(__file__).parents[4])
        found = [each for kind in KINDS for each in plugins.plugins(kind)]
        return cls(
            version=distrl.__version__,
            commit=commit,
            clean=clean,
            python=platform.python_version(),
            packages={name: version for name in PACKAGES if (version := _version(name))},
            machine=machine(),
            command=sys.argv,
            seed=config.run.seed,
            settings=digest([run.config]),
            model=model_digest(config.agent.model),
            task_files={name: data_digest(Path(name)) for name in _task_files(config)},
            plugins=[str(each) for each in found],
            data={name: data_digest(Path(path)) for name, path in _data(config).items() if path},
        )

    @classmethod
    def read(cls, run: RunDirectory) -> Self:
        path = run.path / FILE
        try:
            content = path.read_bytes()
            found = msgspec.json.decode(content, type=cls)
        except FileNotFoundError:
            raise UsageError(f"{run.path} has no {FILE}: an older version made that run") from None
        except (msgspec.DecodeError, OSError) as error:
            raise CorruptLog(f"{path} cannot be read: {error}") from error
        if not is_as_written(content):
            raise CorruptLog(f"{path} is not as the run wrote it: its checksum does not match")
        return found

    def write(self, run: RunDirectory) -> None:
        write_whole(run.card, to_checked_json(asdict(self)))

    def differences(self, now: RunCard) -> list[str]:
        """Return a sentence for each entry that differs from `now`."""
        ours, theirs = _flat(self), _flat(now)
        names = [name for name in (ours | theirs) if not name.startswith("command")]
        return [
            f"{name} was {ours.get(name, 'not there')} and is {theirs.get(name, 'not there')}"
            for name in names
            if ours.get(name) != theirs.get(name)
        ]


def note_card(config: TrainingConfig, run: RunDirectory) -> None:
    """Write the card of a run that has none yet."""
    if not (run.path / FILE).exists():
        RunCard.of(config, run).write(run)


def code_state(folder: Path) -> tuple[str, bool | None]:
    """Return a checkout's commit and whether its files are unchanged; ("", None): it is none."""
    if not (folder / ".git").exists():
        return "", None
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        return commit, not _git(folder, "status", "--porcelain")
    except (OSError, subprocess.SubprocessError):
        return "", None


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=GIT_SECONDS,
    ).stdout.strip()


def machine() -> dict[str, str]:
    """Describe the machine, without its hostname."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "memory_gb": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.0f}",
        "cuda": os.environ.get("CUDA_VISIBLE_DEVICES", ""),
        "gpu": gpu_names(),
    }


def _task_files(config: TrainingConfig) -> list[str]:
    found: list[str] = []
    for tasks in (each.tasks for each in config.by_environment().values()):
        aitw = [tasks.aitw.train_file, tasks.aitw.test_file] if tasks.source == "aitw" else []
        found += [*aitw, *([tasks.web_file] if tasks.web_file else [])]
    return found


def _data(config: TrainingConfig) -> dict[str, str]:
    """Return paths of other data that a run begins with, by setting; empty: not set."""
    examples = {
        f"environments.{name}.judge.examples" if name else "judge.examples": each.judge.examples
        for name, each in config.by_environment().items()
    }
    return {
        "learning.corpus": config.learning.corpus,
        "agent.adapter": config.agent.adapter,
        **examples,
    }


def data_digest(path: Path) -> str:
    """Digest a file, or all files of a folder."""
    if not path.is_dir():
        return digest([path], whole_bytes=DATA_BYTES)
    files = sorted(each for each in path.rglob("*") if each.is_file())
    return digest(files, path, DATA_BYTES)


def model_digest(model: str) -> str:
    """Digest the files of a model on this disk; for a Hub id, the id itself."""
    folder = Path(model_path(model))
    if not folder.is_dir():
        return hashlib.blake2b(str(model).encode(), digest_size=16).hexdigest()
    return digest(sorted(path for path in folder.rglob("*") if path.is_file()), folder)


def digest(
    files: Iterable[Path], folder: Path | None = None, whole_bytes: int = WHOLE_BYTES
) -> str:
    """Digest names, sizes and contents; no contents above `whole_bytes` in total."""
    listed = list(files)
    whole = sum(path.stat().st_size for path in listed if path.is_file()) <= whole_bytes
    found = hashlib.blake2b(digest_size=16)
    for path in listed:
        name = path.relative_to(folder) if folder else path.name
        found.update(f"{name}\0{path.stat().st_size if path.is_file() else -1}\0".encode())
        if whole and path.is_file():
            with path.open("rb") as file:
                while part := file.read(1 << 20):
                    found.update(part)
    return found.hexdigest()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _flat(card: RunCard) -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in asdict(card).items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": str(each) for key, each in value.items()}
        else:
            flat[name] = str(value)
    return flat
