"""Show files of the repository on the site, and rewrite links to them.

Pages in docs/ are written for a reader of the repository: they link to `../src/distrl/records.py`
and to `../examples/README.md`. The site has a page for each file or folder that is linked so, and
`rewritten` points such links to it; a link to a missing file is left as it is, and a strict build
refuses it.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = "docs"
LINK = re.compile(r"(?<=\]\()([^)\s#:<>]+)(?=(?:#[^)\s]*)?\))")
SECTION = re.compile(r'<!-- the section "([^"]+)" of the README -->')
HOME = "index.md"
SOURCES = "source/"  # folder of the pages that show files
PAGES = {  # files outside docs/ that have a page of their own
    "README.md": HOME,
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
}
SHOWN = {"benchmarks/results": "reference/figures.md"}  # pages generated from the folder
KINDS = {".py": "python", ".toml": "toml", ".json": "json", ".yaml": "yaml", ".md": "markdown"}


def origin_of(page: str) -> str:
    """Return the repository file from which a page of the site is made."""
    for origin, made in PAGES.items():
        if made == page and made != HOME:
            return origin
    return f"{DOCS}/{page}"


def page_of(path: str) -> str:
    """Return the page of the site that shows a file or a folder of the repository."""
    if path in PAGES or path in SHOWN:
        return PAGES.get(path) or SHOWN[path]
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    return SOURCES + (f"{path}/index.md" if (ROOT / path).is_dir() else f"{path}.md")


def linked(markdown: str, page: str) -> Iterator[tuple[str, str]]:
    """Yield the links of a page that must be rewritten: as written, and the file they point to."""
    origin = origin_of(page)
    for match in LINK.finditer(markdown):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), match[0]))
        stays = origin.startswith(f"{DOCS}/") and path.startswith(f"{DOCS}/")
        if not stays and not path.startswith("..") and (ROOT / path).exists():
            yield match[0], path


def rewritten(markdown: str, page: str) -> str:
    """Return the page with links out of docs/ pointed to the pages that show their targets."""
    turned = {
        link: posixpath.relpath(page_of(path), posixpath.dirname(page) or ".")
        for link, path in linked(markdown, page)
    }
    return LINK.sub(lambda match: turned.get(match[0], match[0]), markdown)


def with_readme(markdown: str, page: str) -> str:
    """Return the page with sections of the README inserted where a comment asks for them."""
    readme = (ROOT / "README.md").read_text("utf-8")

    def section(asked: re.Match[str]) -> str:
        found = re.search(
            rf"^## {re.escape(asked[1])}\n(.*?)^## ", readme, re.DOTALL | re.MULTILINE
        )
        if found is None:
            raise ValueError(f"{page} asks for the section {asked[1]!r}, which the README has not")
        return LINK.sub(lambda match: _from_readme(match[0], page), found[1])

    return SECTION.sub(section, markdown)


def _from_readme(link: str, page: str) -> str:
    return posixpath.relpath(page_of(link), posixpath.dirname(page) or ".")


def source_page(path: str) -> str:
    """Return the page of a file, or of a folder as a table of its modules."""
    head = f"---\nsearch:\n  exclude: true\n---\n\n# `{path}`\n\n"
    full = ROOT / path
    if full.is_dir():
        rows = [f"| `{each.name}` | {_summary(each)} |" for each in sorted(full.glob("*.py"))]
        return head + "\n".join(["| module | |", "|---|---|", *rows, ""])
    return f"{head}`````{KINDS.get(full.suffix, 'text')}\n{full.read_text('utf-8')}\n`````\n"


def _summary(module: Path) -> str:
    documented = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return documented.partition("\n")[0].replace("|", "\\|")
