"""The machine beneath: fast start-up, files written whole or not at all, progress and time limits of long work."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attncalc.common.errors import AttncalcError, reason, visible

if TYPE_CHECKING:
    from inspect import Signature
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 — otherwise mypy takes the name for private

Thing = TypeVar("Thing")
Kind = TypeVar("Kind")


def grouped(things: Iterable[Thing], kind: Callable[[Thing], Kind]) -> dict[Kind, list[Thing]]:
    """Kind → the things of that kind, in their order."""
    found: dict[Kind, list[Thing]] = {}
    for one in things:
        found.setdefault(kind(one), []).append(one)
    return found


# Fast start-up: code is loaded when it is needed, and classes are made without compiling anything.


def loaded(where: str) -> Any:
    """Import a function by its place in the package, `render.html:write`; tables of such places are read with this."""
    module, _, name = where.partition(":")
    return getattr(import_module(f"attncalc.{module}"), name)


def docstring(function: Callable[..., Any]) -> str:
    """A function's docstring; under python -OO, which drops docstrings, it is read from the source."""
    if function.__doc__ is None:
        import ast  # a door, as below: few start Python with -OO
        import inspect
        from textwrap import dedent

        with suppress(OSError):
            (written,) = ast.parse(dedent(inspect.getsource(function))).body
            return (ast.get_docstring(written) or "") if isinstance(written, ast.FunctionDef) else ""
    return function.__doc__ or ""


if not TYPE_CHECKING:  # a type checker sees typing's own NamedTuple

    class _Fields(type):
        """The metaclass of NamedTuple: each annotation of a class becomes a field, read by its position."""

        def __new__(cls, name: str, bases: tuple[type, ...], held: dict[str, Any]) -> type:
            fields = tuple(held.get("__annotations__", ()))
            defaults = {field: held[field] for field in fields if field in held}
            getters = {field: property(itemgetter(place)) for place, field in enumerate(fields)}
            made = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return super().__new__(cls, name, bases, held | getters | made)

        @property
        def __signature__(cls) -> Signature:
            """The signature of the constructor, for pydoc and editors."""
            from inspect import Parameter, Signature  # a door: only they ask

            return Signature(
                [
                    Parameter(
                        field,
                        Parameter.POSITIONAL_OR_KEYWORD,
                        default=cls._field_defaults.get(field, Parameter.empty),
                        annotation=cls.__annotations__[field],
                    )
                    for field in cls._fields
                ]
            )

    class NamedTuple(tuple, metaclass=_Fields):
        """Like typing.NamedTuple, but a class is made in a tenth of the time: a call makes some fifty at start-up.

        typing compiles the annotation of every field, and collections compiles a constructor for every class.
        """

        def __new__(cls, *values: Any, **named: Any) -> Self:
            """A tuple from values given by position or by name."""
            fields = cls._fields
            if named or len(values) != len(fields):
                left = named.copy()
                given = values
                try:
                    values += tuple(
                        [left.pop(f) if f in left else cls._field_defaults[f] for f in fields[len(values) :]]
                    )
                except KeyError:
                    values = ()
                if left or len(values) != len(fields):
                    raise TypeError(f"{cls.__name__}{cls.__signature__} is not called with {given} and {named}")
            return tuple.__new__(cls, values)

        def _replace(self, **changes: Any) -> Self:
            values = [changes.pop(field, value) for field, value in zip(self._fields, self, strict=True)]
            if changes:
                raise TypeError(f"{type(self).__name__} has no {', '.join(changes)}")
            return tuple.__new__(type(self), values)

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"


# Files by their paths: what is there, how messages show them, and writing a file either whole or not at all.


def write_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file, which may come in pieces: to a temporary file beside it first, then moved in place, mode kept.

    Devices and pipes (`/dev/null`, `>(…)`) are written to as they are.
    """
    pieces = [content] if isinstance(content, bytes) else content
    try:
        if is_device(path):
            with path.open("wb") as file:
                file.writelines(pieces)
        else:
            _replace(path, pieces)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable(path, reason(error)) from None


def unwritable(path: Path, why: str, hint: str = "") -> AttncalcError:
    """The error that says why a file cannot be written."""
    return AttncalcError(f"cannot write {visible(str(path), 200)}: {why}", hint=hint)


def is_device(path: Path) -> bool:
    """Whether the path exists and is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _replace(path: Path, pieces: Iterable[bytes]) -> None:
    beside = path.with_name(f".attncalc-{os.urandom(8).hex()}.tmp")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):  # there is no file yet: it gets the default mode
            beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    finally:  # even if interrupted or terminated, no half-written file is left
        beside.unlink(missing_ok=True)


FORMATS = {
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv",
    ".npy": "npy", ".npz": "npz", ".safetensors": "safetensors",
}  # fmt: skip


def shown(path: str) -> str:
    """A path as errors and results show it."""
    return visible(path, 200)


def exists(path: str) -> bool:
    """Whether anything has that name, even a broken link."""
    try:
        Path(path).lstat()
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False
    return bool(path)


def is_folder(path: str) -> bool:
    """Whether there is a folder of that name."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: str) -> bool:
    """Whether there is a regular file of that name: no folder, and no pipe or device, which can be read only once."""
    return stat.S_ISREG(_mode(path))


def _mode(path: str) -> int:
    """The mode bits of the file of that name; 0 if there is none or it may not be read."""
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return 0


def samples_folder() -> Path:
    """Where the samples are: inside the installed package, or at the top of a checkout."""
    installed = Path(__file__).parents[1] / "samples"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "samples"


# Long work: its progress, reported to a listener, and a time limit for what might never end.


class TooLongError(BaseException):
    """The time is up; not an Exception, since searches catch those and go on."""


@contextmanager
def alarm(seconds: float, *, of_the_processor: bool = False) -> Iterator[None]:
    """Raise TooLongError if the block takes more than so many seconds, by the clock or of processor time.

    There is no limit for 0 seconds, on a system without timers, or outside the main thread, which alone gets signals.
    The alarm repeats at the same interval, in case the error is lost, as in a finalizer.
    """
    if not seconds or not hasattr(signal, "setitimer"):
        yield
        return
    timer, sent = (
        (signal.ITIMER_VIRTUAL, signal.SIGVTALRM) if of_the_processor else (signal.ITIMER_REAL, signal.SIGALRM)
    )

    def give_up(number: int, frame: Any) -> None:
        raise TooLongError

    try:
        before = signal.signal(sent, give_up)
    except ValueError:  # not in the main thread
        yield
        return
    signal.setitimer(timer, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(sent, before)


class Budget:
    """Seconds of processor time for a search, which may be spent in several turns.

    Nothing is interrupted: the search calls `go_on` to ask if any time is left, which works in any thread and system.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left = seconds
        self._end = self._asked_from = 0.0

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Spend the budget inside the block: once nothing is left, `go_on` raises TooLongError."""
        began = time.thread_time()
        self._end, self._asked_from = began + self.left, 0.0
        token = _budget.set(self)
        try:
            self.must_last()
            yield
        finally:
            _budget.reset(token)
            self.left -= time.thread_time() - began

    def must_last(self) -> None:
        """Raise TooLongError if nothing is left; the processor's time is not asked again before that can be so."""
        now = time.perf_counter()
        if now >= self._asked_from:
            left = self._end - time.thread_time()
            if left < 0:
                raise TooLongError
            self._asked_from = now + left


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


def go_on() -> None:
    """Raise TooLongError if the current search has spent its budget."""
    budget = _budget.get()
    if budget is not None:
        budget.must_last()


Listener = Callable[[str, int, int | None], None]
"""Takes what is counted ("iteration"), how many are done, and the total, None if it is not known."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, done: int, total: int | None = None) -> None:
    """Report progress: `tell("iteration", 500, 10_000)`. Without a listener this costs next to nothing."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


@contextmanager
def told_to(listener: Listener) -> Iterator[None]:
    """Send the progress reported inside the block to the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
