"""Pages that tests serve: a button, a link and a field at fixed places, and room to scroll."""

from __future__ import annotations

from pathlib import Path

from distrl.records import Tap

HTML = """<!doctype html><meta name=viewport content="width=device-width"><title>{name}</title>
<style>.at {{ position: fixed; left: 10px; height: 50px; width: 200px }}</style>
<button class=at style="top:10px" onclick="{script}">Do it</button>
<a class=at style="top:80px" href="{link}" {extra}>Go there</a>
<label class=at style="top:150px">Name <input id=field></label>
<input class=at style="top:220px" type=checkbox aria-label="Agree">
<div style="height:3000px"></div><p>The end</p>"""
BUTTON, LINK, FIELD = Tap(60 / 360, 30 / 720), Tap(30 / 360, 90 / 720), Tap(120 / 360, 162 / 720)


def write_page(
    folder: Path, name: str, script: str = "", link: str = "#here", extra: str = ""
) -> None:
    path = folder / f"{name}.html"
    path.write_text(HTML.format(name=name, script=script, link=link, extra=extra))
