"""Opens a model: a local directory, or an id on the Hugging Face hub, which is downloaded first.

Nothing in a directory is trusted: weights must be safetensors, and code that came with a model is
never run. Problems are found before any weights are loaded, where that is possible, and raised as
one clear error: no model, an adapter, an unknown family, missing tokens, missing or damaged
weights. `FAMILIES` lists the families of models that can be opened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, StrictDataclassError
from safetensors import SafetensorError, safe_open
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.utils import logging as transformers_logging

from distrl import plugins
from distrl.agent.export_directory import run_without_policy
from distrl.agent.families.auto_ui import AUTO_UI
from distrl.agent.families.gemma import GEMMA
from distrl.agent.families.idefics import IDEFICS
from distrl.agent.families.intern_vl import INTERN_VL
from distrl.agent.families.language import LANGUAGE
from distrl.agent.families.model_family import InputBuilder, ModelFamily, ModelParts
from distrl.agent.families.qwen_vl import QWEN2_VL, QWEN3_VL
from distrl.agent.prompt import Sees
from distrl.agent.starter.building import STARTER_FAMILY
from distrl.errors import (
    CorruptModel,
    DistrlError,
    InvalidSetting,
    NotAModel,
    UnknownModelFamily,
)

# All built-in model families; plugins can register more.
FAMILIES: tuple[ModelFamily, ...] = (
    QWEN2_VL, QWEN3_VL, IDEFICS, GEMMA, INTERN_VL, AUTO_UI, STARTER_FAMILY, LANGUAGE,
)  # fmt: skip


WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
WANTED_FILES = ("*.json", "*.jinja", "*.txt", "*.model", "*.safetensors")  # no code, no pickles
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
SETTINGS_FILES = (  # checked before transformers reads them, which sets no limit on size or depth
    "config.json", "generation_config.json", "preprocessor_config.json", "processor_config.json",
    "video_preprocessor_config.json", "tokenizer_config.json", "special_tokens_map.json",
    "chat_template.json", "adapter_config.json",
)  # fmt: skip
BOUNDED_FILES = (  # parsed by other libraries: only their size is checked here
    "tokenizer.json", "vocab.json", "merges.txt", "added_tokens.json", "tokenizer.model",
    "chat_template.jinja",
)  # fmt: skip
MAX_SETTINGS = 64 * 2**20  # bytes; a tokenizer's may list a hundred thousand tokens
MAX_SAID = 300  # characters of another library's error that are quoted
MAX_TOLD = 8  # model types of one family that an error lists
OFFLINE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A model with its weights and its input builder."""

    model: PreTrainedModel
    input_builder: InputBuilder
    family: ModelFamily
    directory: Path
    sees: Sees


def open_model(
    name_or_path: str | Path, dtype: torch.dtype = torch.float32, sees: Sees | None = None
) -> OpenedModel:
    """Open a model on the CPU in `dtype`, whatever dtype it was saved in.

    `sees`: what it is given of a screen; None: its family's default.
    """
    directory = local_directory(name_or_path)
    family = known_family(directory)
    builder = open_inputs(directory, sees)
    check_weights(directory)
    network: Any = load_weights(directory, read_config(directory), dtype)
    return OpenedModel(network.eval(), builder, family, directory, checked_sees(family, sees))


def open_inputs(directory: Path, sees: Sees | None = None) -> InputBuilder:
    """Return the input builder of the model in a directory, without reading weights."""
    family = known_family(directory)
    sees = checked_sees(family, sees)
    for name in SETTINGS_FILES:
        if (directory / name).is_file():
            read_json(directory / name)
    for name in BOUNDED_FILES:
        if (directory / name).is_file():
            _check_size(directory / name)
    if family.register is not None:
        family.register()
    parts = ModelParts(directory, read_config(directory), sees)
    try:
        return family.input_builder(parts)
    except DistrlError:
        raise
    except Exception as error:  # the tokenizers library raises plain Exception
        said = f"{type(error).__name__}: {error}"[:MAX_SAID]
        raise NotAModel(
            f"{directory}: its tokenizer, its chat template or how it prepares pictures makes no "
            f"sense ({said}); fetch those files again"
        ) from error


def checked_sees(family: ModelFamily, sees: Sees | None) -> Sees:
    """Return `sees`, or the family's default for None; raise `InvalidSetting` if unsupported."""
    if sees is not None and sees not in family.sees:
        raise InvalidSetting(
            f"agent.sees={sees!r} with a model of {family.name}, which can be given "
            f"{' or '.join(family.sees)}; leave agent.sees out, or take another model"
        )
    return sees or family.sees[0]


def local_directory(name_or_path: str | Path) -> Path:
    """Return the model's directory; a hub id is downloaded first unless it is cached."""
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return path.resolve()
    if path.exists():
        raise NotAModel(f"{path} is a file; a model is the directory that such files lie in")
    if untrained := run_without_policy(path):
        raise NotAModel(untrained)
    if not HUB_ID.fullmatch(str(name_or_path)):
        raise NotAModel(
            f"there is no directory {path}; give the directory of a model, or its id on the "
            "Hugging Face hub, such as Qwen/Qwen2.5-VL-3B-Instruct"
        )
    try:
        return Path(snapshot_download(str(name_or_path), allow_patterns=list(WANTED_FILES)))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise NotAModel(
            f"there is no directory {path}, and the hub gave no model of that id: {error}"
        ) from error


def known_family(directory: Path) -> ModelFamily:
    """Return the family of the model in a directory, from its config.json alone."""
    adapter = directory / "adapter_config.json"
    if adapter.is_file() and not (directory / "config.json").is_file():
        base = read_json(adapter).get("base_model_name_or_path", "unknown")
        raise NotAModel(
            f"{directory} holds an adapter, not a model: it goes onto {base}. Give that model, and "
            "this directory as the adapter"
        )
    if not (directory / "config.json").is_file():
        if untrained := run_without_policy(directory):
            raise NotAModel(untrained)
        found = ", ".join(sorted(path.name for path in directory.iterdir())[:8]) or "nothing"
        raise NotAModel(f"{directory} is no model: it has no config.json (it has {found})")
    settings = read_json(directory / "config.json")
    model_type = str(settings.get("model_type", ""))
    families: tuple[ModelFamily, ...] = (
        *FAMILIES,
        *(each.part for each in plugins.plugins("model_family")),
    )
    family = next((each for each in families if model_type in each.model_types), None)
    if family is None:
        known = "; ".join(_told(each) for each in families)
        own_code = " It wants to run code of its own, which is never done here; look for a version "
        own_code += "that transformers knows (often named …-hf)." if "auto_map" in settings else ""
        raise UnknownModelFamily(
            f"{directory} is of the type {model_type!r}, which is none that we have inputs for."
            f"{own_code if 'auto_map' in settings else ''} We know: {known}"
        )
    return family


def _told(family: ModelFamily) -> str:
    some = ", ".join(family.model_types[:MAX_TOLD])
    more = len(family.model_types) - MAX_TOLD
    return f"{family.name} ({some}{f' and {more} more' if more > 0 else ''})"


def saved_type(directory: Path) -> str:
    """Return the dtype that a model was saved in, such as "bfloat16"; "" if unknown.

    Newer configs call it `dtype`; some have it only for their language model.
    """
    settings = read_json(directory / "config.json")
    parts = (settings, settings.get("text_config") or {})
    found = [part.get(name) for part in parts for name in ("dtype", "torch_dtype")]
    return next((str(each) for each in found if each), "")


def check_weights(directory: Path) -> None:
    """Raise `CorruptModel` if a weight file is missing, or its header or length is wrong."""
    for file in weight_files(directory):
        if not file.is_file():
            raise CorruptModel(
                f"{directory} lacks {file.name}, which its {INDEX} lists; fetch it again"
            )
        try:
            with safe_open(file, framework="pt"):
                pass
        except (SafetensorError, OSError) as error:
            raise CorruptModel(
                f"{file} is damaged or was cut off ({file.stat().st_size:,} bytes; {error}); fetch "
                "or export it again"
            ) from error


def weight_files(directory: Path) -> list[Path]:
    if (directory / INDEX).is_file():
        listed = read_json(directory / INDEX).get("weight_map")
        if not isinstance(listed, dict) or not listed:
            raise CorruptModel(f"{directory / INDEX} lists no weights; fetch it again")
        names = sorted({str(name) for name in listed.values()})
        if outside := [name for name in names if Path(name).name != name]:
            raise CorruptModel(f"{directory / INDEX} points to {outside[0]}, outside the model")
        return [directory / name for name in names]
    if (directory / WEIGHTS).is_file():
        return [directory / WEIGHTS]
    pickles = sorted(path.name for path in directory.glob("*.bin"))
    advice = (
        f"it has {', '.join(pickles)}, which could run code when loaded; save the model once more "
        "with save_pretrained, as safetensors"
        if pickles
        else "fetch them, or save the model with save_pretrained"
    )
    raise CorruptModel(f"{directory} has no weights ({WEIGHTS} or {INDEX}): {advice}")


def read_json(file: Path) -> dict[str, Any]:
    """Read a model's JSON file, which is not trusted; raise `NotAModel` if it is invalid."""
    try:
        _check_size(file)
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise NotAModel(f"{file} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise NotAModel(f"{file} should hold settings by name, but begins {str(content)[:40]!r}")
    return content


def _check_size(file: Path) -> None:
    if file.stat().st_size > MAX_SETTINGS:
        raise NotAModel(f"{file} cannot be read: it has more than {MAX_SETTINGS:,} bytes")


def read_config(directory: Path) -> PreTrainedConfig:
    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(directory, **OFFLINE)
    except (
        StrictDataclassError, OSError, ValueError, KeyError, TypeError, RecursionError,
    ) as error:  # fmt: skip
        raise NotAModel(f"{directory / 'config.json'} makes no sense: {error}") from error
    return config


def load_weights(directory: Path, config: PreTrainedConfig, dtype: torch.dtype) -> PreTrainedModel:
    """Load the model on the CPU; raise `CorruptModel` if the files lack any of its weights."""
    try:
        with quiet_transformers():
            auto: Any = (
                AutoModelForImageTextToText
                if "screen" in known_family(directory).sees
                else AutoModelForCausalLM
            )
            loaded: Any = auto.from_pretrained(
                directory,
                config=config,
                dtype=dtype,
                use_safetensors=True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # they are in the report, and rejected below
                **OFFLINE,
            )
    except (SafetensorError, OSError, RuntimeError, ValueError) as error:
        raise CorruptModel(f"the weights in {directory} cannot be loaded: {error}") from error
    model, report = loaded
    missing, mismatched = sorted(report["missing_keys"]), sorted(report["mismatched_keys"])
    if missing or mismatched:
        names = [str(name) for name in (*missing, *mismatched)]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise CorruptModel(
            f"the weights in {directory} are not those of its config.json: {', '.join(names[:3])}"
            f"{more} are missing or of another shape; fetch or export the model again"
        )
    opened: PreTrainedModel = model
    return opened


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence transformers' progress bars and tables: many processes open models at once.

    Problems with the weights are in its loading report, and are raised as errors.
    """
    logging: Any = transformers_logging
    shown, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()
