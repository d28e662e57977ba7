"""`grade --cluster`: the workers of a Dask scheduler, which somebody else has started."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from attncalc.common.errors import AttncalcError, OptionError, visible
from attncalc.common.system import is_file

SECONDS = 20
"""So long the scheduler may take to answer."""


@contextmanager
def executed(address: str | None) -> Iterator[Executor | None]:
    """The executor of a cluster, by the address of its scheduler or the file that it wrote; None where none is named.

    Certificates and the like are those of Dask's own configuration.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client  # a door: an extra, which loads for long
    except ImportError:
        raise OptionError("--cluster needs Dask", hint="pip install 'attncalc[cluster]'") from None
    where = {"scheduler_file": address} if is_file(address) else {"address": address}
    try:
        client = Client(**where, timeout=SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        said = visible(str(error).partition("\n")[0], 200)
        raise AttncalcError(f"there is no scheduler at {visible(address, 80)}: {said}") from None
    with client:
        yield client.get_executor(pure=False)
