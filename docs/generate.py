"""The documents, filled by running what they show.

    python docs/generate.py            rewrites README.md, docs/*.md, docs/commands/*.md and what else it makes
    python docs/generate.py --check    says what is stale, and exits with 1 if anything is
    python docs/generate.py --tables   rewrites what is read off the source alone, and runs nothing

In a block fenced as `console` every line that begins with `$ ` is a command, and what stands below it is what it
printed. The commands of one document run in order in a copy of samples/, 80 columns wide and without colour, with the
attncalc that is installed beside this interpreter. The pages in docs/commands/ are written from the table of
calculations first, one for each family. docs/first-look.svg is a moving picture of two runs (moving.py),
docs/attncalc.1 the manual page; tables.py reads the tables of names and the sentences of the rooms off the source,
stubs.py the types of attncalc/__init__.pyi off the declarations, schema.py docs/schema.json off the types of documents.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tables import fresh

ROOT = Path(__file__).parents[1]
COMMANDS = ROOT / "docs/commands"
README = ROOT / "README.md"
SAMPLES = ROOT / "samples"
PICTURE = ROOT / "docs/first-look.svg"
MANUAL = ROOT / "docs/attncalc.1"

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DECIMAL = re.compile(r"(\d+\.\d{4,})")
WIDTH = 80
ENVIRONMENT = {
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "HOME": os.environ.get("HOME", ""),
    "LANG": "C.UTF-8",
    "TERM": "xterm-256color",
    "COLUMNS": str(WIDTH),
}
LONGEST = 150  # lines of an example; of a longer one the result alone is shown
NEVER_SHOWN = {70: "a bug in attncalc", 126: "not executable", 127: "no such command"}


class Document(NamedTuple):
    """A file of the documentation as it should be."""

    path: Path
    text: str

    def stale(self) -> list[str]:
        """What differs in the file as it is: the first command of each such block, or its text."""
        old = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        if alike(self.text, old):
            return []
        blocks = [block[0] for block in BLOCK.finditer(old)]
        return [
            block[1].partition("\n")[0]
            for block in BLOCK.finditer(self.text)
            if not any(alike(block[0], other) for other in blocks)
        ] or ["its text"]


def alike(text: str, other: str) -> bool:
    """Whether the texts are the same but for one unit in the last digit of decimals, which depends on the machine.

    Libraries of linear algebra add in another order on another processor, and a page that shows float32 tells.
    """
    pieces, others = DECIMAL.split(text), DECIMAL.split(other)
    if len(pieces) != len(others) or pieces[::2] != others[::2]:
        return False
    return all(
        one == two or (len(one) == len(two) and abs(int(one.replace(".", "")) - int(two.replace(".", ""))) <= 1)
        for one, two in zip(pieces[1::2], others[1::2], strict=True)
    )


@contextmanager
def loaded_once() -> Iterator[None]:
    """Within it `attncalc` is a program that has been loaded already, where a process can fork."""
    path = ENVIRONMENT["PATH"]
    if not hasattr(os, "fork"):
        yield
        return
    sys.path.append(str(ROOT / "tests"))
    from forks import Forks

    forks = Forks(ENVIRONMENT)
    with tempfile.TemporaryDirectory() as folder:
        forks.write_command(Path(folder, "attncalc"))
        ENVIRONMENT["PATH"] = os.pathsep.join([folder, path])
        try:
            yield
        finally:
            ENVIRONMENT["PATH"] = path
            forks.end()


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


run_once = cache(run)
"""The same of commands that write nothing."""


def fill(text: str, folder: Path, run: Callable[[str, Path], str] = run) -> str:
    """The text with every console block run again."""

    def filled(block: re.Match[str]) -> str:
        lines = ["```console"]
        for line in block[1].splitlines():
            if line.startswith("$ "):
                lines += [line, *(printed.rstrip() for printed in run(line[2:], folder).rstrip().splitlines())]
        return "\n".join([*lines, "```"])

    return BLOCK.sub(filled, text)


def reference() -> dict[Path, str]:
    """The pages of docs/commands/, their blocks still empty: an index, and a page for each family."""
    from attncalc.calculations import families
    from attncalc.cli.command import VERBS

    shared = "sed -n '/^Output:/,$p'"
    made = "Written by `docs/generate.py`: every block below was run in the folder of the samples."
    pages, contents = {}, []
    for heading, commands in families().items():
        file = page_of(heading)
        pages[COMMANDS / file] = "\n\n".join(
            [f"# {heading}", made, *(part for name, _ in commands for part in page(name))]
        )
        contents += [
            f"## [{heading}]({file})",
            "\n".join(f"- [{name}]({file}#{name}): {line}" for name, line in commands),
        ]
    verbs = [part for name in VERBS for part in (f"### {name}", block(f"attncalc {name} --help-all"))]
    index = ["# The commands", made, *contents, "## Over all of them", *verbs]
    index += ["## Options of every calculation", block(f"attncalc dot --help-all | {shared}")]
    pages[COMMANDS / "README.md"] = "\n\n".join(index)
    return {path: text + "\n" for path, text in pages.items()}


def page_of(heading: str) -> str:
    """The name of a family's page: `vectors-and-distances.md`."""
    return f"{heading.lower().replace(' ', '-')}.md"


def page(name: str) -> Iterator[str]:
    """A calculation's part of its page: its help, its sample worked out, and the results of its further samples."""
    yield f"## {name}"
    yield block(f"attncalc {name} --help-all | sed '/^Output:/,$d'")
    own = f"{name}.json"
    long = run_once(f"attncalc run {own}", SAMPLES).count("\n") > LONGEST
    yield block(f"attncalc run {own}{' -q' if long else ''}")
    for path in sorted(SAMPLES.glob(f"{name}-*.json")):
        calculation = json.loads(path.read_text(encoding="utf-8"))["calculation"]
        if calculation.split(" ")[-1] == name:
            yield block(f"attncalc run {path.name} -q")


def block(command: str) -> str:
    """A console block that holds nothing but its command yet."""
    return f"```console\n$ {command}\n```"


def documents() -> Iterator[Document]:
    """Every generated document, made anew; each has a copy of the samples to itself."""
    from manual import manual  # here, since attncalc goes by the tables, which are written before
    from moving import picture
    from schema import SCHEMA, text

    read_off = fresh()
    yield from (Document(path, text) for path, text in read_off.items() if path.suffix == ".py")
    with tempfile.TemporaryDirectory() as scratch, loaded_once():
        texts = {path: path.read_text(encoding="utf-8") for path in (README, *ROOT.glob("docs/*.md"))}
        texts |= {path: text for path, text in read_off.items() if path.suffix == ".md"}
        jobs = {path: (text, shutil.copytree(SAMPLES, Path(scratch, path.name)), run) for path, text in texts.items()}
        jobs |= {path: (text, SAMPLES, run_once) for path, text in reference().items()}
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # the work is done in processes of their own
            yield from pool.map(lambda path: Document(path, fill(*jobs[path])), sorted(jobs))
        yield Document(PICTURE, picture(lambda command: run(command, SAMPLES), SAMPLES))
        yield Document(MANUAL, manual())
        yield Document(SCHEMA, text())
        yield from stubs()


def stubs() -> Iterator[Document]:
    """What a type checker knows of each calculation; it is set by ruff, which who only runs the tests need not have."""
    if find_spec("ruff"):
        from stubs import STUB, stub

        yield Document(STUB, stub())


def rewrite(made: Iterable[Document]) -> None:
    """Write what is stale."""
    for document in made:
        if document.stale():
            document.path.write_text(document.text, encoding="utf-8")
            print(f"rewrote {document.path.relative_to(ROOT)}")


def main() -> None:
    """Rewrite the documents, or say which are stale."""
    if "--check" not in sys.argv[1:]:
        COMMANDS.mkdir(exist_ok=True)
        rewrite(Document(*each) for each in fresh().items())  # first, since attncalc itself goes by the tables
        rewrite(stubs() if "--tables" in sys.argv[1:] else documents())
        return
    stale = [document for document in documents() if document.stale()]
    if stale:
        for document in stale:
            for what in document.stale():
                print(f"stale: {document.path.relative_to(ROOT)}: {what}")
        sys.exit("run docs/generate.py, and read what changed before committing it")


if __name__ == "__main__":
    main()
