"""`attncalc` and `python -m attncalc`: signals, and what nobody else has caught."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

# The shell's words for how a program ended: 128 and the number of the signal.
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
PIPE_CLOSED = 141  # 128 + SIGPIPE, which not every system has
BUG = 70


def main() -> NoReturn:
    """Run the command line and leave with its exit status."""
    sys.exit(run())


def run() -> int:
    """Run the command line: its exit status."""
    try:
        gc.set_threshold(100_000)  # starting makes many objects and next to no garbage: look for it less often
        signal.signal(signal.SIGTERM, _terminate)
        from attncalc.cli import app, output

        output.prepare_streams()
        try:
            status: int = app(standalone_mode=False)
            return status
        except BrokenPipeError:
            output.discard_output()
            return PIPE_CLOSED
        except MemoryError:
            output.say("Error", "there is not enough memory for this calculation")
            return 2
        except Exception as error:  # noqa: BLE001 — whatever it is, it is our fault and must not look like an answer
            return _own_fault(error)
    except KeyboardInterrupt:
        return INTERRUPTED


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End as if by `sys.exit`, so that temporary files are removed on the way out."""
    sys.exit(TERMINATED)


def _own_fault(error: Exception) -> int:
    from attncalc.cli import output

    if os.environ.get("ATTNCALC_DEBUG"):
        import traceback

        traceback.print_exception(error)
    output.say("Error", f"this is a bug in attncalc, not in your call: {type(error).__name__}: {error}")
    output.say("hint", "please report it with the call and, from ATTNCALC_DEBUG=1, the traceback")
    return BUG


if __name__ == "__main__":
    main()
