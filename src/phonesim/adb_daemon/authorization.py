"""Which computers a phone trusts: the dialog "Allow USB debugging?" and its answer.

A computer authenticates by signing a random token of twenty bytes with its RSA key. A phone that
does not know the key waits until the user allows it; until then `adb devices` shows the phone as
unauthorized.
"""

from __future__ import annotations

import base64
import binascii
import secrets
import struct
import threading
from dataclasses import dataclass

TOKEN_BYTES = 20
MODULUS_BYTES = 256  # adb's keys have 2048 bits
KEY = struct.Struct(f"<II{MODULUS_BYTES}s{MODULUS_BYTES}sI")
# PKCS #1 v1.5 for a SHA-1 digest; adb puts the token in place of the digest.
DIGEST_INFO = bytes.fromhex("3021300906052b0e03021a05000414")
MAX_KEYS = 64


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A computer's RSA public key."""

    modulus: int
    exponent: int

    def signed(self, token: bytes, signature: bytes) -> bool:
        if len(signature) != MODULUS_BYTES:
            return False
        number = pow(int.from_bytes(signature, "big"), self.exponent, self.modulus)
        tail = b"\x00" + DIGEST_INFO + token
        filling = b"\xff" * (MODULUS_BYTES - 2 - len(tail))
        return number == int.from_bytes(b"\x00\x01" + filling + tail, "big")


def read_key(payload: bytes) -> PublicKey | None:
    """Parse a key in the format in which adb sends and stores it; None if it is invalid."""
    encoded = payload.rstrip(b"\x00").split(b" ")[0]
    try:
        _, _, modulus, _, exponent = KEY.unpack(base64.b64decode(encoded, validate=True))
    except (binascii.Error, struct.error):
        return None
    number = int.from_bytes(modulus, "little")
    return PublicKey(number, exponent) if number > 2 and 2 < exponent < 2**17 else None


class Authorization:
    """The keys that one phone trusts. With `everybody` it never asks."""

    def __init__(self, everybody: bool = True) -> None:
        self.everybody = everybody
        self._lock = threading.Lock()
        self._trusted: set[PublicKey] = set()
        self._asking: dict[PublicKey, None] = {}

    def new_token(self) -> bytes:
        return secrets.token_bytes(TOKEN_BYTES)

    def proves(self, token: bytes, signature: bytes) -> bool:
        with self._lock:
            return any(key.signed(token, signature) for key in self._trusted)

    def ask(self, key: PublicKey) -> None:
        """Add an unknown key to those waiting for approval; drop the oldest of too many."""
        with self._lock:
            self._asking[key] = None
            while len(self._asking) > MAX_KEYS:
                del self._asking[next(iter(self._asking))]

    def trusts(self, key: PublicKey) -> bool:
        with self._lock:
            return self.everybody or key in self._trusted

    def allow(self) -> int:
        """Trust all waiting keys, and return how many there were."""
        with self._lock:
            self._trusted |= self._asking.keys()
            count = len(self._asking)
            self._asking.clear()
            return count

    def forget(self) -> None:
        """Revoke every permission, as the button in the developer options does."""
        with self._lock:
            self._trusted.clear()
            self._asking.clear()
