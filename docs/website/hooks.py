"""What mkdocs is told while it builds the site: the pages that are made by running attncalc, and where links lead.

Beside docs/*.md the site has the texts that stand outside docs/, a live page for every sample (as
`attncalc run NAME.json -f html` writes it), the mistakes, and the functions of the library.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
sys.path += map(str, (Path(__file__).parent, ROOT / "docs", ROOT / "tests"))  # the tests have problems for mistakes

import functions
import gallery
from generate import BLOCK, SAMPLES, page_of

from attncalc.calculations import families
from attncalc.inputs.problem_files import load_document
from attncalc.inputs.reading import Reading
from attncalc.render import render
from attncalc.solve.solver import solve

OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "samples/README.md": "samples.md",
}
"""Texts outside docs/, and the pages of the site that they are."""
TEXTS = {page: text for text, page in OUTSIDE.items()}
PLACES = OUTSIDE | {"samples": "samples.md"}
COMMAND = re.compile(r"^\$ (.+)$", re.MULTILINE)
RUN = re.compile(r"attncalc run ([\w-]+)\.json( -q)?")
WRITTEN = re.compile(r"^\$ attncalc [\w-]+ ([\w-]+)\.json -o \1\.html$", re.MULTILINE)
"""A sample's command, and one that writes its page."""
LINK = re.compile(r"\]\(([^)#:]+)(#[^)]*)?\)")
CODE = re.compile(r"<code>[^<]*</code>")
OPTION = re.compile(r"--?\w[\w-]*")
TYPED = re.compile(r'(?<=<span class="w"> </span>)--?\w[\w-]*')  # an option of a command in a block
POLICY = "default-src 'self' file: data: blob: 'unsafe-inline'"
"""What a page may load: what stands beside it, on a server or in a folder."""


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """No page for what is not found: its links are those of a server's root, which this site need not lie in."""
    return "" if template_name == "404.html" else output


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Families of calculations take the places of words in capitals in the navigation."""
    rows = {
        folder.upper(): [{heading: f"{folder}/{page_of(heading)}"} for heading in families()]
        for folder in ("commands", "mistakes", "library")
    }
    config.nav = _filled(config.nav, rows)
    return config


def _filled(part: Any, rows: dict[str, list[Any]]) -> Any:
    """A part of the navigation with rows in place of their words."""
    if isinstance(part, dict):
        return {name: _filled(below, rows) for name, below in part.items()}
    if isinstance(part, list):
        return [row for below in part for row in (rows[below] if str(below) in rows else [_filled(below, rows)])]
    return part


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The site's further pages."""
    made = {page: (SAMPLES.parent / text).read_text(encoding="utf-8") for page, text in TEXTS.items()}
    made |= dict(functions.pages())
    with contextlib.chdir(SAMPLES):  # a page names its files
        made |= dict(live())
        made |= dict(gallery.pages())
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def live() -> Iterator[tuple[str, str]]:
    """Of each sample the page on which every number, pointed at, says what it was made from."""
    for path in sorted(Path().glob("*.json")):
        held = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(held, dict) and "calculation" in held:
            problem = load_document(path.name, Reading()).problem
            yield f"live/{path.stem}.html", str(render(solve(problem), "html"))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links within the site, and live pages above what a terminal shows of them."""
    path = page.file.src_uri
    text = LINK.sub(lambda link: f"]({_led(link[1], path)}{link[2] or ''})", markdown)
    if path == "contributing.md":
        text = re.sub(r"^ {3}(?=.)", "    ", text, flags=re.MULTILINE)  # inside a list, as Python-Markdown asks
    if path.startswith("commands/"):
        return text if page.is_index else BLOCK.sub(_unfolded, text)
    return BLOCK.sub(lambda block: block[0] + "".join(map(_frame, WRITTEN.findall(block[1]))), text)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Options stay on a line: browsers would break `--fade` behind one of its two signs."""
    kept = r'<span class="option">\g<0></span>'
    return TYPED.sub(kept, CODE.sub(lambda code: OPTION.sub(kept, code[0]), html))


def _led(link: str, path: str) -> str:
    """Where a link of a text in the repository leads within the site."""
    stands = PurePosixPath(TEXTS.get(path) or f"docs/{path}").parent
    meant = os.path.normpath(stands / link).replace(os.sep, "/")
    return os.path.relpath(PLACES.get(meant) or meant.removeprefix("docs/"), PurePosixPath(path).parent)


def _unfolded(block: re.Match[str]) -> str:
    """A block to unfold; where it is of a sample, below that sample's live page."""
    command = COMMAND.findall(block[1])[0]
    summary = f"<summary><code>{command.partition(' | ')[0]}</code></summary>"
    folded = f'<details markdown="1">{summary}\n{block[0]}\n</details>'
    run = RUN.fullmatch(command)
    return f"{_frame(run[1], '../')}\n{folded}" if run else folded


def _frame(name: str, up: str = "") -> str:
    """A sample's live page, within another."""
    page = f"{up}live/{name}.html"
    frame = f'<iframe class="live" src="{page}" title="{name}, step by step" loading="lazy"></iframe>'
    return f'\n\n{frame}\n<p class="live"><a href="{page}">{name}, on a page of its own</a></p>\n'


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """The page may load nothing from elsewhere, whatever the theme's scripts would like to."""
    return output.replace("<head>", f'<head>\n<meta http-equiv="Content-Security-Policy" content="{POLICY}">', 1)
