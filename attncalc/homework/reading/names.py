"""Names of students: which of them are the same, and what files and folders of their own are called."""

from __future__ import annotations

import re
from unicodedata import normalize

LONGEST_STEM = 60
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
"""Names that no file may have on Windows, whatever its suffix."""


def is_inside(folder: str) -> bool:
    """Whether a path with `/` between its parts stays in the folder that it is written into, on any system."""

    def fits(part: str) -> bool:
        leads_out = not part.strip(". ") or "\\" in part or re.match("[A-Za-z]:", part)  # to a drive of Windows
        return not leads_out and part.isprintable() and len(part.encode()) < 256

    return all(map(fits, folder.split("/")))


def folded(name: str) -> str:
    """A name in a form to compare by: without capitals, and with single blanks."""
    return " ".join(normalize("NFC", name).casefold().split())


def file_name(student: str, taken: set[str], suffix: str = ".json") -> str:
    """A file name made from a student's name, which every file system takes and which is not `taken` yet."""
    stem = re.sub(r"[^\w-]+", "-", normalize("NFC", student))[:LONGEST_STEM].strip("-") or "sheet"
    stem = f"{stem}-" if DEVICES.fullmatch(stem) else stem
    name, number = stem, 2
    while name.casefold() in taken:
        name, number = f"{stem.rstrip('-')}-{number}", number + 1
    taken.add(name.casefold())
    return f"{name}{suffix}"
