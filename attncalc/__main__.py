"""`attncalc` and `python -m attncalc`: signals, and what nobody else has caught.

What takes time to load is loaded where an interruption is caught, which is why so little is imported up here.
"""

from __future__ import annotations

import gc
import os
import sys
from time import monotonic

TYPE_CHECKING = False  # typing itself takes longer to load than all that is needed here
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

BUG = 70
NO_MEMORY = 2
# A program that a signal ends leaves 128 and the signal's number, as a shell would say it.
INTERRUPTED = 128 + 2  # SIGINT
PIPE_CLOSED = 128 + 13  # SIGPIPE, which not every system has
AGAIN = 3.0
"""So many seconds after one Ctrl-C the next one counts; sooner it would only disturb what the first one cleans up."""


def main() -> NoReturn:
    """Run the command line and leave with its exit status.

    It leaves without Python's taking all modules down one by one, as mypy does: that takes a tenth of a small
    calculation. All is written by then, and nothing here waits for Python's end to be cleaned up.
    """
    gc.set_threshold(100_000)  # starting makes many objects and next to no garbage: look for it less often
    try:
        status = run()
    finally:
        _leave_in_peace()
    _flush()
    os._exit(status)


def run() -> int:
    """Run the command line: its exit status."""
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background it is ignored
            signal.signal(signal.SIGINT, _interruption())
        for name in ("SIGTERM", "SIGHUP"):  # not every system has both, and nohup has the second ignored
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _terminate)
        from attncalc.cli import app, output

        output.prepare_streams()
        status: int = app(standalone_mode=False)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return PIPE_CLOSED
    except MemoryError:
        _say("Error: there is not enough memory for this calculation")
        return NO_MEMORY
    except Exception as error:  # noqa: BLE001 — whatever it is, it is our fault and must not look like an answer
        _say_bug(error)
        return BUG
    return status


def _interruption() -> Callable[[int, FrameType | None], None]:
    """What Ctrl-C does: raise KeyboardInterrupt, and once where an impatient hand presses it several times."""
    last = -AGAIN

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = monotonic()
        if now - last >= AGAIN:
            last = now
            raise KeyboardInterrupt

    return interrupt


def _leave_in_peace() -> None:
    """All is written, or cleaned up: no signal changes the exit status any more, nor adds a word."""
    signal = sys.modules.get("signal")
    if signal is not None:  # else the call was interrupted before it had set anything
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End as if by `sys.exit`, so that temporary files are removed on the way out."""
    sys.exit(128 + number)


def _say_bug(error: Exception) -> None:
    from attncalc.common.errors import visible

    if os.environ.get("ATTNCALC_DEBUG"):
        import traceback

        traceback.print_exception(error)
    _say(f"Error: this is a bug in attncalc, not in your call: {type(error).__name__}: {visible(str(error), 200)}")
    _say("hint: please report it with the call, and the traceback that ATTNCALC_DEBUG=1 shows")


def _flush() -> None:
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # nobody reads it any more, or it is closed
                stream.flush()


def _say(line: str) -> None:
    from contextlib import suppress

    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(line + "\n")


if __name__ == "__main__":
    main()
