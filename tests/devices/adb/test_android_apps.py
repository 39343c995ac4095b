"""Names find apps, and names of nothing find nothing."""

from __future__ import annotations

import pytest

from distrl.devices.adb.android_apps import find_package

INSTALLED = (
    "com.android.chrome",
    "com.android.settings",
    "com.google.android.deskclock",
    "com.spotify.music",
    "org.example.notes",
    "org.example.notes.widget.notes",
)


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("com.spotify.music", "com.spotify.music"),
        ("Chrome", "com.android.chrome"),
        ("the  Settings app", "com.android.settings"),
        ("clock", "com.google.android.deskclock"),
        ("Spotify", "com.spotify.music"),
        ("Notes", "org.example.notes"),
        ("my list", "org.example.notes"),
        ("com.nobody.has.this", None),
        ("gmail", None),
        ("example.notes", None),
        ("", None),
    ],
)
def test_names(name: str, package: str | None) -> None:
    assert find_package(name, INSTALLED, {"My List": "org.example.notes"}) == package


def test_the_clock_of_every_vendor_is_a_clock() -> None:
    for package in ("com.sec.android.app.clockpackage", "com.oneplus.deskclock"):
        assert find_package("Clock", (*INSTALLED[:2], package)) == package
