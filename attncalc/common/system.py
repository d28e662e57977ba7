"""The machine beneath: what lets a call start fast, files written whole or not at all, work that takes long."""

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
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 — else mypy takes the name for private

Thing = TypeVar("Thing")
Kind = TypeVar("Kind")


def grouped(things: Iterable[Thing], kind: Callable[[Thing], Kind]) -> dict[Kind, list[Thing]]:
    """The things of each kind, in their order."""
    found: dict[Kind, list[Thing]] = {}
    for one in things:
        found.setdefault(kind(one), []).append(one)
    return found


# What lets a call start fast: code loaded when it is needed, and classes made without compiling anything.


def loaded(where: str) -> Any:
    """`render.html:write` → that function of ours, whose file is imported now: the loader behind tables of doors."""
    module, _, name = where.partition(":")
    return getattr(import_module(f"attncalc.{module}"), name)


def docstring(function: Callable[..., Any]) -> str:
    """What a function says of itself; under python -OO, which drops that, it is read in the function's source."""
    if function.__doc__ is None:
        import ast  # a door, as below: few start Python so
        import inspect
        from textwrap import dedent

        with suppress(OSError):
            (written,) = ast.parse(dedent(inspect.getsource(function))).body
            return (ast.get_docstring(written) or "") if isinstance(written, ast.FunctionDef) else ""
    return function.__doc__ or ""


if not TYPE_CHECKING:  # where types are checked it is typing's own

    class _Fields(type):
        """What makes the classes below: each annotation in one is a field, read by its place."""

        def __new__(cls, name: str, bases: tuple[type, ...], held: dict[str, Any]) -> type:
            fields = tuple(held.get("__annotations__", ()))
            defaults = {field: held[field] for field in fields if field in held}
            getters = {field: property(itemgetter(place)) for place, field in enumerate(fields)}
            made = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return super().__new__(cls, name, bases, held | getters | made)

        @property
        def __signature__(cls) -> Signature:
            """How one is called, as pydoc and editors show it."""
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
        """As typing's, made in a tenth of the time: a call makes some fifty such classes when it starts.

        typing compiles the annotation of every field, and collections a constructor for every class.
        """

        def __new__(cls, *values: Any, **named: Any) -> Self:
            """One such tuple, of values by their places or their names."""
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


# Files by their paths: what is there, how they are said, and writing one so that it is either whole or not there.


def write_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write the file whole: beside it first, then in its place, with the mode that it had; large ones come in pieces.

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
    """Whether there is something that is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _replace(path: Path, pieces: Iterable[bytes]) -> None:
    beside = path.with_name(f".attncalc-{os.urandom(8).hex()}.tmp")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):  # there is no file yet: the mode is a new one's
            beside.chmod(path.stat().st_mode & 0o7777)
        beside.replace(path)
    finally:  # when interrupted or terminated as well, nothing half-written stays behind
        beside.unlink(missing_ok=True)


FORMATS = {
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv",
    ".npy": "npy", ".npz": "npz", ".safetensors": "safetensors",
}  # fmt: skip


def shown(path: str) -> str:
    """A path as errors and results say it."""
    return visible(path, 200)


def exists(path: str) -> bool:
    """Whether there is something of that name, be it a link that leads nowhere; what it is shows when it is opened."""
    try:
        Path(path).lstat()
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False
    return bool(path)


def is_folder(path: str) -> bool:
    """Whether there is a folder of that name."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: str) -> bool:
    """Whether there is a file of that name: no folder, and no pipe or device that can be read only once."""
    return stat.S_ISREG(_mode(path))


def _mode(path: str) -> int:
    """What kind of thing has that name; 0 where there is none, or none that may be looked at."""
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return 0


def samples_folder() -> Path:
    """Where the samples are: inside the installed package, or at the top of a checkout."""
    installed = Path(__file__).parents[1] / "samples"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "samples"


# Work that takes long: how far it has got, told to whoever listens, and an end for what has no bound of its own.


class TooLongError(BaseException):
    """The time is over; not an Exception, since searches pass over those and go on."""


@contextmanager
def alarm(seconds: float, *, of_the_processor: bool = False) -> Iterator[None]:
    """Raise TooLongError where what is inside takes more than so many seconds, by the clock or of the processor's time.

    0 seconds are no limit; nor is there one where the system has no timer, or outside the main thread, which alone gets
    signals. Where the error is lost, as one that strikes in a finalizer is, it comes again after as long.
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
    """Seconds of the processor's time for a search, which may be spent in several turns.

    The search asks by `go_on` whether there is any left: nothing is interrupted, in any thread and on any system.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left = seconds
        self._end = self._asked_from = 0.0

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Raise TooLongError from `go_on` inside once nothing is left."""
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
        """Raise TooLongError where nothing is left; before so much time has gone by, there is no need to ask."""
        now = time.perf_counter()
        if now >= self._asked_from:
            left = self._end - time.thread_time()
            if left < 0:
                raise TooLongError
            self._asked_from = now + left


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


def go_on() -> None:
    """Raise TooLongError where a search has spent its budget."""
    budget = _budget.get()
    if budget is not None:
        budget.must_last()


Listener = Callable[[str, int, int | None], None]
"""Takes what is counted ("iteration"), how many are done, and how many there may be, None where nobody knows."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, done: int, total: int | None = None) -> None:
    """So many are done, of so many: `tell("iteration", 500, 10_000)`. Where nobody listens it costs next to nothing."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


@contextmanager
def told_to(listener: Listener) -> Iterator[None]:
    """Whatever works inside is heard by the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
