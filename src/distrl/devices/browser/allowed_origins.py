"""Which origins a page may reach: those of its tasks on this machine, and those the user lists.

The list is enforced twice. The browser is started with a proxy that nobody answers, and the list
as its only exceptions: that holds for every request, websocket and prefetch. And each document
that a page asks for is held until we have looked at it (`page`), so that leaving the allowed
origins is known, refused and said. Origins are scheme, host and port: another port of this machine
(a dashboard, a learner) is another origin.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from distrl.errors import InvalidSetting

PORTS = {"http": 80, "https": 443}
NOBODY = "http://127.0.0.1:9"  # the port "discard": nothing listens there
INSIDE = ("about:", "data:", "blob:")  # made by a page itself; nothing is fetched


def origin_of(url: str) -> str:
    """Scheme, host and port of a url, such as http://127.0.0.1:8000."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise InvalidSetting(f"{url!r} is no url: {error}") from error
    if parts.scheme not in PORTS or not parts.hostname:
        raise InvalidSetting(f"{url!r} is no url of a page; give one like http://127.0.0.1:8000/")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}"


def on_this_machine(url: str) -> bool:
    """Is its host a loopback address, or called localhost?"""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True, slots=True)
class AllowedOrigins:
    """A set of origins; `of` refuses tasks whose pages are elsewhere and were not listed."""

    origins: frozenset[str]

    @classmethod
    def of(cls, urls: Iterable[str], listed: Iterable[str] = ()) -> AllowedOrigins:
        """The origins of task urls, and the listed ones. Only listed ones may be elsewhere."""
        named = frozenset(origin_of(each) for each in listed)
        own = {origin_of(url): url for url in urls}
        for origin, url in own.items():
            if origin not in named and not on_this_machine(url):
                raise InvalidSetting(
                    f"{url} is not on this machine; if agents may act there, list it: "
                    f'devices.browser.origins=["{origin}"]'
                )
        return cls(named | frozenset(own))

    def allows(self, url: str) -> bool:
        if url.startswith(INSIDE):
            return True
        try:
            return origin_of(url) in self.origins
        except InvalidSetting:
            return False  # file:, chrome:, view-source:, or no url at all

    @property
    def flags(self) -> tuple[str, ...]:
        """What keeps the browser itself to the list."""
        hosts = sorted(origin.partition("://")[2] for origin in self.origins)
        return (
            f"--proxy-server={NOBODY}",
            f"--proxy-bypass-list={';'.join(['<-loopback>', *hosts])}",
            "--disable-quic",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        )
