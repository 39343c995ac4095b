"""Which app is meant by a name: "Chrome", "com.android.chrome" or "the settings".

Labels are not to be had over adb, so a name is looked up in this order: a package as it stands; the
names of the phone's owner; a short list of what many phones have; and a package whose own name has
the word in it. A name that fits nothing is None: the agent asked for an app that is not there, and
the phone stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

# Several packages where makers differ; the first that is installed counts.
WELL_KNOWN: dict[str, tuple[str, ...]] = {
    "browser": ("com.android.chrome", "org.chromium.webview_shell", "com.android.browser"),
    "calculator": ("com.google.android.calculator", "com.android.calculator2"),
    "calendar": ("com.google.android.calendar", "com.android.calendar"),
    "camera": (
        "com.android.camera2",
        "com.google.android.GoogleCamera",
        "com.sec.android.app.camera",
    ),
    "chrome": ("com.android.chrome",),
    "clock": ("com.google.android.deskclock", "com.android.deskclock"),
    "contacts": ("com.google.android.contacts", "com.android.contacts"),
    "dialler": ("com.google.android.dialer", "com.android.dialer"),
    "files": ("com.google.android.documentsui", "com.android.documentsui"),
    "gallery": ("com.google.android.apps.photos", "com.android.gallery3d"),
    "gmail": ("com.google.android.gm",),
    "mail": ("com.google.android.gm", "com.android.email"),
    "maps": ("com.google.android.apps.maps",),
    "messages": ("com.google.android.apps.messaging", "com.android.mms"),
    "phone": ("com.google.android.dialer", "com.android.dialer"),
    "photos": ("com.google.android.apps.photos",),
    "play store": ("com.android.vending",),
    "settings": ("com.android.settings",),
    "store": ("com.android.vending",),
    "youtube": ("com.google.android.youtube",),
}


def find_package(
    name: str, installed: Collection[str], own_names: Mapping[str, str] | None = None
) -> str | None:
    """The installed package that this name means, or None."""
    if name in installed:
        return name
    wanted = " ".join(name.lower().split()).removeprefix("the ").removesuffix(" app")
    named = {key.lower(): package for key, package in (own_names or {}).items()}.get(wanted)
    candidates = ((named,) if named else ()) + WELL_KNOWN.get(wanted, ())
    for package in candidates:
        if package in installed:
            return package
    word = re.sub(r"[^a-z0-9]", "", wanted)
    fitting = [package for package in installed if word and word in package.lower().split(".")]
    return min(fitting, key=lambda package: (len(package), package), default=None)
