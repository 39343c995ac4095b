"""Pages reach what their tasks need on this machine, and what was listed."""

from __future__ import annotations

import pytest

from distrl.devices.browser.allowed_origins import AllowedOrigins, origin_of
from distrl.errors import InvalidSetting


def test_an_origin_is_scheme_host_and_port() -> None:
    assert origin_of("http://Example.com/a?b#c") == "http://example.com:80"
    assert origin_of("https://[::1]:8443/x") == "https://[::1]:8443"
    for bad in ("", "file:///etc/passwd", "chrome://settings", "http://", "http://a:99999/"):
        with pytest.raises(InvalidSetting):
            origin_of(bad)


def test_pages_elsewhere_must_be_listed() -> None:
    own = AllowedOrigins.of(["http://127.0.0.1:8000/shop", "http://localhost:9000"])
    assert own.allows("http://127.0.0.1:8000/other?x=1")
    assert own.allows("about:blank")
    for url in (
        "http://127.0.0.1:8001/",  # another port is another origin
        "https://127.0.0.1:8000/",
        "http://127.0.0.1:8000@example.com/",
        "file:///etc/passwd",
        "http://exa mple:x/",
    ):
        assert not own.allows(url)
    with pytest.raises(InvalidSetting, match=r'devices\.browser\.origins=\["https://x\.org:443"\]'):
        AllowedOrigins.of(["https://x.org/a"])
    listed = AllowedOrigins.of(["https://x.org/a"], ["https://x.org"])
    assert listed.allows("https://x.org/b")


def test_the_browser_is_kept_to_the_list_also_on_this_machine() -> None:
    proxy, bypass, *_ = AllowedOrigins.of(["http://127.0.0.1:8000/"]).flags
    assert proxy == "--proxy-server=http://127.0.0.1:9"
    assert bypass == "--proxy-bypass-list=<-loopback>;127.0.0.1:8000"
