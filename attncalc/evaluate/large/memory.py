"""How much memory a run may take, and the refusal of one that would not fit, before it starts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from attncalc.common.errors import TooLarge
from attncalc.record.trace import NOTHING

UNLIMITED = 2**60
"""What a container's limit says where there is none."""


def must_fit(needed: int, what: str, ways_round: Mapping[str, int] = NOTHING) -> None:
    """Raise TooLarge where so many bytes are not to be had; it names the ways round that fit, each with its bytes."""
    free = available()
    if free is None or needed <= free:
        return
    fitting = [f"{way} needs {less:,}" for way, less in ways_round.items() if less <= free]
    raise TooLarge(
        f"{what} needs {needed:,} bytes of memory, but only {free:,} are available",
        hint="; ".join(fitting) or "what fits is smaller: fewer rows, or a part of them at a time",
    )


def available() -> int | None:
    """How many bytes this process may still take: of the machine, of its container, of its own limit."""
    found = [*_of_the_machine(), *_of_the_container(), *_of_the_process()]
    return max(0, min(found)) if found else None


def _of_the_machine() -> Iterator[int]:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        yield 1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:")))
        return
    with suppress(AttributeError, OSError, ValueError):  # systems without /proc: what is built in, used or not
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_the_container(root: Path = Path("/")) -> Iterator[int]:
    """What the control groups around this process leave it, both in the old layout of files and in the new one."""
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
            for group in (below, *below.parents):  # a limit further up holds too; inside a container that is the top
                yield from _left(top / group, *files)


def _left(group: Path, limit: str, usage: str, reclaimable: str) -> Iterator[int]:
    """What is left of a group's limit, the files that it only remembers being no use of it."""
    with suppress(OSError, ValueError):
        most = int((group / limit).read_text(encoding="ascii"))
        if most >= UNLIMITED:
            return
        used = int((group / usage).read_text(encoding="ascii"))
        statistics = (group / "memory.stat").read_text(encoding="ascii").splitlines()
        remembered = sum(int(line.split()[1]) for line in statistics if line.split()[0] == reclaimable)
        yield most - used + remembered


def _of_the_process() -> Iterator[int]:
    """What `ulimit -v` leaves."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            yield limit - pages * resource.getpagesize()


def have_no_more(than: int) -> None:
    """Let this process take so many bytes beside those that it has, where the system can see to that."""
    with suppress(ImportError, OSError, ValueError, StopIteration):
        import resource  # not on Windows

        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        most = than + 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmData:")))
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
