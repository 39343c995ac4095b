"""The origins a page may reach: those of its tasks on this machine, and those the user lists.

The list is enforced twice. First, the browser is started with a proxy at which nothing answers, and
with the list as the only exceptions to that proxy: this covers every request, websocket and
prefetch. Second, each request for a document is paused until we have checked its url
(`browser_page`), so that leaving the allowed origins is detected, refused and reported. An origin
is scheme, host and port: another port of this machine (a dashboard, a learner) is another origin.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from distrl.errors import InvalidSetting

PORTS = {"http": 80, "https": 443}
NOBODY = "http://127.0.0.1:9"  # the "discard" port: nothing listens there
INSIDE = ("about:", "data:", "blob:")  # urls made by the page itself; nothing is fetched


def origin_of(url: str) -> str:
    """Return scheme, host and port of a url, such as http://127.0.0.1:8000."""
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
    """Return whether the url's host is a loopback address or is named localhost."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True, slots=True)
class AllowedOrigins:
    """A set of origins. `of` refuses tasks whose pages are on other hosts and are not listed."""

    origins: frozenset[str]

    @classmethod
    def of(cls, urls: Iterable[str], listed: Iterable[str] = ()) -> AllowedOrigins:
        """Return the origins of the task urls and of `listed`; others than this machine's must be
        listed.
        """
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
            return False  # file:, chrome:, view-source:, or not a url

    @property
    def flags(self) -> tuple[str, ...]:
        """Command-line flags that make the browser itself enforce the list."""
        hosts = sorted(origin.partition("://")[2] for origin in self.origins)
        return (
            f"--proxy-server={NOBODY}",
            f"--proxy-bypass-list={';'.join(['<-loopback>', *hosts])}",
            "--disable-quic",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        )
