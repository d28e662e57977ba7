"""How much memory a run may take, and the error for one that would not fit, before it starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from attncalc.common.errors import TooLarge
from attncalc.record.trace import NOTHING

UNLIMITED = 2**60
"""Container limits from here on mean that there is no limit."""


def must_fit(needed: int, what: str, ways_round: Mapping[str, int] = NOTHING) -> None:
    """Raise TooLarge if so many bytes are not available; the hint names the alternatives that fit, with their bytes."""
    free = available()
    if free is None or needed <= free:
        return
    fitting = [f"{way} needs {less:,}" for way, less in ways_round.items() if less <= free]
    raise TooLarge(
        f"{what} needs {needed:,} bytes of memory, but only {free:,} are available",
        hint="; ".join(fitting) or "what fits is smaller: fewer rows, or a part of them at a time",
    )


def available() -> int | None:
    """How many bytes this process may still take: the least that machine, container and its own limit allow."""
    found = [*_of_the_machine(), *_of_the_container(), *_of_the_process()]
    return max(0, min(found)) if found else None


def _of_the_machine() -> Iterator[int]:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        yield 1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:")))
        return
    with suppress(AttributeError, OSError, ValueError):  # without /proc: all memory that is built in, used or not
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_the_container(root: Path = Path("/")) -> Iterator[int]:
    """The bytes that the control groups around this process still allow, in both layouts of their files."""
    with suppress(OSError, ValueError):
        for line in (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                files, top = ("memory.max", "memory.current", "inactive_file"), root / "sys/fs/cgroup"
            elif "memory" in controllers.split(","):
                files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
                top = root / "sys/fs/cgroup/memory"
            else:
                continue
            below = Path(path.lstrip("/"))
            for group in (below, *below.parents):  # outer limits hold too; a container sees its own as the top
                yield from _left(top / group, *files)


def _left(group: Path, limit: str, usage: str, reclaimable: str) -> Iterator[int]:
    """What is left of a group's limit, if its reclaimable file cache does not count as used."""
    with suppress(OSError, ValueError):
        most = int((group / limit).read_text(encoding="ascii"))
        if most >= UNLIMITED:
            return
        used = int((group / usage).read_text(encoding="ascii"))
        statistics = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        remembered = sum(int(line.split()[1]) for line in statistics if line.split()[0] == reclaimable)
        yield most - used + remembered


def _of_the_process() -> Iterator[int]:
    """The bytes that `ulimit -v` still allows."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            yield limit - pages * resource.getpagesize()


def have_no_more(than: int) -> None:
    """Limit this process to so many bytes more than it has now, on systems that can."""
    with suppress(ImportError, OSError, ValueError, StopIteration):
        import resource  # not on Windows

        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        most = than + 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmData:")))
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
