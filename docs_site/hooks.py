"""The hooks of mkdocs.yml: they add generated pages and rewrite links that leave docs/."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parents[1]))  # mkdocs loads this file by its path

from docs_site.api_reference import api_page
from docs_site.command_reference import commands_page
from docs_site.repository_links import (
    HOME,
    PAGES,
    ROOT,
    SOURCES,
    linked,
    page_of,
    rewritten,
    source_page,
    with_readme,
)
from docs_site.results_reference import figures_page
from docs_site.settings_reference import settings_page


def generated_pages() -> dict[str, str]:
    """Return generated pages, which no file of docs/ contains, by their path on the site."""
    copies = {
        page: (ROOT / origin).read_text("utf-8") for origin, page in PAGES.items() if page != HOME
    }
    return {
        **copies,
        "reference/settings.md": settings_page(),
        "reference/commands.md": commands_page(),
        "reference/api.md": api_page(),
        "reference/figures.md": figures_page(),
    }


def on_files(files: Files, config: MkDocsConfig) -> Files:
    pages = generated_pages()
    for file in files.documentation_pages():
        pages[file.src_uri] = file.content_string
    shown = {path for page, text in pages.items() for _, path in linked(text, page)}
    for path in shown:
        if (page := page_of(path)).startswith(SOURCES):
            pages[page] = source_page(path)
    present = {file.src_uri for file in files}
    for uri, text in pages.items():
        if uri not in present:
            files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    uri = page.file.src_uri
    return with_readme(rewritten(markdown, uri), uri)
