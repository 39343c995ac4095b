"""The identity of a learner that collectors join: its own certificate, and the token to join with.

Both are made on the first start and kept in a folder, key and token readable by their owner alone,
so that collectors recognise the same learner after a restart. There is no certificate authority:
a collector is given the SHA-256 fingerprint of the certificate and trusts nothing else.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import secrets
import socket
import ssl
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from distrl.errors import DataLost, InvalidSetting, NotInstalled, storage_error

YEARS = 20  # of validity of a certificate; to have a new one made, remove the folder
TOKEN_BYTES = 32
MARK = "distrl_"  # prefix of our tokens, which end with "-" and a CRC-32
DRAWN_LENGTH, CHECKSUM_LENGTH = len(MARK) + 43, 9
TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}")
COMMON_NAME = "distrl learner"


@dataclass(frozen=True, slots=True)
class Identity:
    """The folder with the certificate, the key and the token of a learner."""

    folder: Path

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """Return the identity in that folder: made if there is none, refused if it is damaged."""
        found = cls(folder)
        files = (found.key, found.certificate, found.token_file)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not any(file.exists() for file in files):
                certificate, key = new_certificate()
                token = f"{new_token()}\n".encode()
                for file, content in zip(files, (key, certificate, token), strict=True):
                    _write_private(_draft(file), content)
            for file in files:  # also completes a start that was interrupted here
                if not file.exists() and _draft(file).exists():
                    _draft(file).replace(file)
        except OSError as error:
            raise storage_error(
                error, f"making the certificate to join with in {folder}"
            ) from error
        found._check()
        return found

    def _check(self) -> None:
        """Raise `DataLost` unless certificate and key exist, are intact and belong together."""
        from cryptography import x509
        from cryptography.exceptions import InvalidSignature

        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key)
            certificate = x509.load_pem_x509_certificate(self.certificate.read_bytes())
            certificate.verify_directly_issued_by(certificate)  # fails if a bit has changed
            _check_key(self.key.read_bytes())
            fingerprint_of(self.certificate.read_text("ascii"))
        except (OSError, ValueError, TypeError, InvalidSignature) as error:
            raise DataLost(
                f"{self.certificate} and {self.key} cannot be used ({error}); collectors know this "
                "learner by them: restore them, or remove them and the token, and give every "
                "collector the fingerprint and the token that are made then"
            ) from error

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


def _check_key(pem: bytes) -> None:
    """Raise ValueError unless both halves of a key belong together; loading does not check it."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key = load_pem_private_key(pem, password=None)
    if isinstance(key, ec.EllipticCurvePrivateKey):
        private = key.private_numbers().private_value
        if ec.derive_private_key(private, key.curve).public_key() != key.public_key():
            raise ValueError("the key's halves do not belong together")


def new_token() -> str:
    """Draw a token that ends with its own checksum, so that damage by a disk is detected."""
    drawn = MARK + secrets.token_urlsafe(TOKEN_BYTES)
    return f"{drawn}-{zlib.crc32(drawn.encode()):08x}"


def _is_damaged(token: str) -> bool:
    """Return whether a token of ours was changed; tokens made elsewhere have no checksum."""
    drawn, ending = token[:-CHECKSUM_LENGTH], token[-CHECKSUM_LENGTH:]
    odd = (ending[0] != "-") + sum(letter not in "0123456789abcdef" for letter in ending[1:])
    is_ours = token.startswith(MARK) or (len(drawn) == DRAWN_LENGTH and odd <= 1)
    return is_ours and ending != f"-{zlib.crc32(drawn.encode()):08x}"


def read_token(path: Path) -> str:
    """Return the token in a file; refuse anything else, without showing any of it."""
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
    if _is_damaged(text):
        raise InvalidSetting(
            f"the token in {path} is not as it was made: its checksum does not match; restore the "
            "file from a machine that has joined, or from the learner's"
        )
    return text


def new_certificate() -> tuple[bytes, bytes]:
    """Make a self-signed certificate (ECDSA, P-256) and its key, both PEM."""
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


def _draft(file: Path) -> Path:
    """Return the name of a file until all files of the identity are on the disk."""
    return file.with_name(f".{file.name}.draft")


def _write_private(path: Path, content: bytes) -> None:
    """Write a file that nobody else can read at any moment; return when it is on the disk."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def join_words(address: str, port: int, identity: Identity) -> str:
    """Return the sentence with the command that joins from another machine."""
    host = urlsplit(f"//{address}").hostname or ""
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    host = f"[{host}]" if ":" in host else host
    return (
        f"collectors of other machines join with: distrl collect --join https://{host}:{port} "
        f"--fingerprint {identity.fingerprint} --token-file {identity.token_file} "
        "(copy that file there)"
    )
