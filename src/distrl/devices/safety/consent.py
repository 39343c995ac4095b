"""The owner's consent that a phone is operated: a file for each phone, written by hand.

It is `~/.config/distrl/consent/SERIAL.toml` (or in the folder `DISTRL_CONSENT`) and has to name the
phone, contain the sentence, and list the apps. Removing it withdraws the consent: it is read again
at every reset.

    serial = "R5CT30XXXXX"
    owner = "Ada"
    sentence = "I agree that DistRL operates this phone."
    apps = ["com.android.settings", "com.google.android.deskclock"]
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from distrl.errors import ConsentMissing

SENTENCE = "I agree that DistRL operates this phone."


@dataclass(frozen=True, slots=True)
class Consent:
    """What was agreed to, by whom."""

    serial: str
    owner: str
    apps: tuple[str, ...]


def consent_path(serial: str) -> Path:
    """Path of the consent file of this phone."""
    folder = os.environ.get("DISTRL_CONSENT")
    root = Path(folder) if folder else Path.home() / ".config" / "distrl" / "consent"
    return root / f"{re.sub(r'[^A-Za-z0-9._-]', '_', serial)}.toml"


def read_consent(serial: str) -> Consent:
    """Read the consent for this phone, or raise `ConsentMissing`."""
    path = consent_path(serial)
    try:
        written = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise ConsentMissing(_how(serial, path, "there is no such file")) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConsentMissing(_how(serial, path, f"it cannot be read: {error}")) from error
    apps = written.get("apps")
    if written.get("serial") != serial:
        raise ConsentMissing(_how(serial, path, f"it names the phone {written.get('serial')!r}"))
    if written.get("sentence") != SENTENCE or not written.get("owner"):
        raise ConsentMissing(_how(serial, path, "the sentence or the owner is missing"))
    if not isinstance(apps, list) or not all(isinstance(app, str) for app in apps):
        raise ConsentMissing(_how(serial, path, "apps is no list of packages"))
    return Consent(serial, str(written["owner"]), tuple(apps))


def _how(serial: str, path: Path, why: str) -> str:
    return (
        f"device {serial} is a handset, and its owner's consent in {path} does not hold: {why}. "
        f'Write there: serial = "{serial}", owner = "…", sentence = "{SENTENCE}" and '
        'apps = ["…"] with the packages that may be used'
    )
