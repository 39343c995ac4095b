"""How a learner that others join is known: a certificate of its own, and the token to join with.

They are made on the first start and kept in a folder, the key and the token readable by their owner
alone, so that collectors find the same learner again after a restart. There is no certificate
authority: a collector is told the SHA-256 fingerprint of the certificate and trusts nothing else.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import secrets
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from distrl.errors import InvalidSetting, NotInstalled, storage_error

YEARS = 20  # that a certificate is valid; whoever wants another one removes the folder
TOKEN_BYTES = 32
TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}")
COMMON_NAME = "distrl learner"


@dataclass(frozen=True, slots=True)
class Identity:
    """Where certificate, key and token of a learner are."""

    folder: Path

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """The identity in that folder; what is missing there is made."""
        found = cls(folder)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not (found.certificate.exists() and found.key.exists()):
                certificate, key = new_certificate()
                _write_private(found.key, key)
                _write_private(found.certificate, certificate)
            if not found.token_file.exists():
                _write_private(found.token_file, f"{secrets.token_urlsafe(TOKEN_BYTES)}\n".encode())
        except OSError as error:
            raise storage_error(
                error, f"making the certificate to join with in {folder}"
            ) from error
        return found

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.pem"

    @property
    def key(self) -> Path:
        return self.folder / "key.pem"

    @property
    def token_file(self) -> Path:
        return self.folder / "token"

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate, in hexadecimal digits."""
        return fingerprint_of(self.certificate.read_text("ascii"))

    def token(self) -> str:
        return read_token(self.token_file)


def fingerprint_of(certificate: str) -> str:
    """SHA-256 of a certificate (PEM), as `openssl x509 -fingerprint -sha256` shows it."""
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest()


def read_token(path: Path) -> str:
    """The token in a file; refuses what is none, and shows nothing of it."""
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(
            f"the token file {path} cannot be read ({error}); copy it from the learner's machine"
        ) from error
    if not TOKEN.fullmatch(text):
        raise InvalidSetting(
            f"{path} holds no token: 20 to 200 letters, digits, - and _ on one line; copy the file "
            "from the learner's machine"
        )
    return text


def new_certificate() -> tuple[bytes, bytes]:
    """A self-signed certificate (ECDSA, P-256) and its key, both PEM."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"the package {error.name!r} is not installed; a learner that others join needs "
            "pip install 'distrl[join]'"
        ) from error
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, COMMON_NAME)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))  # clocks differ
        .not_valid_after(now + dt.timedelta(days=365 * YEARS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM), key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write_private(path: Path, content: bytes) -> None:
    """Nobody else can read it at any moment, and it is whole or not there."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
