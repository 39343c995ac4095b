"""HTML and SVG as text that cannot be forgotten to be escaped.

`Markup` is finished; any other text is data (an instruction, a file name), and `tag` escapes it.
"""

from __future__ import annotations

import html


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | Markup


def tag(name: str, *children: Content, **attributes: str | float) -> Markup:
    """`<name …>children</name>`; the attribute class_ is written class, text_anchor text-anchor."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(_text(value))}"'
        for key, value in attributes.items()
    )
    inside = "".join(map(escaped, children))
    return Markup(f"<{name}{written}>{inside}</{name}>")


def join(children: list[Markup]) -> Markup:
    return Markup("".join(children))


def escaped(text: Content) -> Markup:
    return text if isinstance(text, Markup) else Markup(html.escape(text))


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
