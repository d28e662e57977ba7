"""The documents, filled by running what they show.

    python docs/generate.py            rewrites README.md, docs/*.md and docs/attention.svg
    python docs/generate.py --check    says what is stale, and exits with 1 if anything is

In a block fenced as `console` every line that begins with `$ ` is a command, and what stands below it is what it
printed. The commands of one document run in order in a copy of samples/, 80 columns wide and without colour, with the
attncalc that is installed beside this interpreter. docs/commands.md is written from the table of calculations first.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs/commands.md"
PICTURE = ROOT / "docs/attention.svg"
PICTURED = "attncalc attention attention.json"

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WIDTH = 80
ENVIRONMENT = {
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "HOME": os.environ.get("HOME", ""),
    "LANG": "C.UTF-8",
    "TERM": "xterm-256color",
    "COLUMNS": str(WIDTH),
}
NEVER_SHOWN = {70: "a bug of attncalc's own", 126: "not executable", 127: "no such command"}


class Document(NamedTuple):
    """A file of the documentation as it should be."""

    path: Path
    text: str

    def stale(self) -> list[str]:
        """What differs in the file as it is: the first command of each such block, or its text."""
        old = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        if self.text == old:
            return []
        return [block[1].partition("\n")[0] for block in BLOCK.finditer(self.text) if block[0] not in old] or [
            "its text"
        ]


def run(command: str, folder: Path) -> str:
    """What a shell shows for `command`, its errors among its output, as they would stand in a terminal."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if done.returncode in NEVER_SHOWN:
        sys.exit(f"$ {command}\n{done.stdout}\n{NEVER_SHOWN[done.returncode]}")
    return done.stdout


def fill(text: str, folder: Path) -> str:
    """The text with every console block run again."""

    def filled(block: re.Match[str]) -> str:
        lines = ["```console"]
        for line in block[1].splitlines():
            if line.startswith("$ "):
                lines += [line, *(printed.rstrip() for printed in run(line[2:], folder).rstrip().splitlines())]
        return "\n".join([*lines, "```"])

    return BLOCK.sub(filled, text)


def reference() -> str:
    """docs/commands.md with its blocks still empty: each command's help, and its sample worked out."""
    from attncalc.cli.groups import VERBS, families

    shared, own = "sed -n '/^Output:/,$p'", "sed '/^Output:/,$d'"
    parts = [
        "# The commands",
        "Written by `docs/generate.py`: every block below was run in the folder of the samples.",
        block("attncalc --help"),
        "## Options of every calculation",
        block(f"attncalc dot --help | {shared}"),
    ]
    for heading, commands in families().items():
        parts.append(f"## {heading}")
        for name, _ in commands:
            parts += [f"### {name}", block(f"attncalc {name} --help | {own}")]
            if (ROOT / f"samples/{name}.json").exists():
                parts.append(block(f"attncalc run {name}.json"))
    parts.append("## Over all of them")
    for name in VERBS:
        parts += [f"### {name}", block(f"attncalc {name} --help")]
    return "\n\n".join(parts) + "\n"


def block(command: str) -> str:
    """A console block that holds nothing but its command yet."""
    return f"```console\n$ {command}\n```"


def picture(folder: Path) -> str:
    """A real run with the colours that a terminal would show, as an SVG of text."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(run(f"{PICTURED} --color always", folder).rstrip()))
    svg = console.export_svg(title=f"$ {PICTURED}", unique_id="attncalc")  # a fixed id, so that a run changes nothing
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # the reader's own fonts, none from the network


def documents() -> Iterator[Document]:
    """Every generated document, made anew; each has a copy of the samples to itself."""
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted({ROOT / "README.md", REFERENCE, PICTURE, *ROOT.glob("docs/*.md")}):
            folder = shutil.copytree(ROOT / "samples", Path(scratch, path.name))
            if path == PICTURE:
                yield Document(path, picture(folder))
            else:
                yield Document(
                    path, fill(reference() if path == REFERENCE else path.read_text(encoding="utf-8"), folder)
                )


def main() -> None:
    """Rewrite the documents, or say which are stale."""
    stale = [document for document in documents() if document.stale()]
    if "--check" not in sys.argv[1:]:
        for document in stale:
            document.path.write_text(document.text, encoding="utf-8")
            print(f"rewrote {document.path.relative_to(ROOT)}")
    elif stale:
        for document in stale:
            for what in document.stale():
                print(f"stale: {document.path.relative_to(ROOT)}: {what}")
        sys.exit("run docs/generate.py, and read what changed before committing it")


if __name__ == "__main__":
    main()
