"""`compare A B`: two dumps beside one another."""

from typing import Annotated

import typer

from attncalc.cli import output as out
from attncalc.cli.checking import WRONG, policy
from attncalc.cli.settings import Colour, File, Marking, Stored, formats, names, option, paper, target
from attncalc.common.errors import OptionError, quoted
from attncalc.common.numerals import LAYOUTS
from attncalc.homework.reports.compared_dumps import FORMATS, shown
from attncalc.homework.two_dumps import compared, read_dump
from attncalc.inputs.reading import Reading


def compare(
    a: Annotated[str, typer.Argument(metavar="a", help="the dump to judge")],
    b: Annotated[str, typer.Argument(metavar="b", help="the reference")],
    map: Annotated[
        list[str] | None, option("Comparing", "--map", "A=B,…", "names of a that are called otherwise in b")
    ] = None,
    heads_layout: Annotated[
        str | None,
        option("Comparing", "--heads-layout", "|".join(LAYOUTS), "how heads and tokens lie in a", choices=LAYOUTS),
    ] = None,
    rtol: Annotated[
        str | None, option("Comparing", "--rtol", "R", "how far entries may be off, relative to those of b")
    ] = None,
    atol: Annotated[
        str | None, option("Comparing", "--atol", "A", "how far they may be off; with neither, their types' noise")
    ] = None,
    dtype: Stored = None,
    format: Annotated[str | None, formats(FORMATS)] = None,
    output: File = None,
    color: Colour = "auto",
) -> int:
    """Compares two dumps of arrays, and names the first array that diverges.

    A dump is an npz, safetensors or npy file, a checkpoint, a folder of npy files, or a saved result. Arrays are paired
    by name; b is the reference. The exit status is 0 if all agree within the noise of the coarser type, row by row, and
    1 if one differs, or is missing.

    Example: attncalc compare mine.npz reference.npz
    """
    where = target(format, output, FORMATS)
    view = paper(None, color, where)
    pairs = {}
    for word in names(map):
        mine, mark, theirs = word.partition("=")
        if not mark:
            raise OptionError(f"--map takes pairs of names, not {quoted(word)}", hint="--map my_output=h.0.attn")
        pairs[mine.strip()] = theirs.strip()
    read = Reading()
    found = compared(
        read_dump(a, read),
        read_dump(b, read),
        pairs,
        tolerance=policy(Marking(rtol=rtol, atol=atol)).tolerance,
        layout=heads_layout,
        dtype=dtype,
    )
    if where.path:
        out.refuse_unwritable(where.path, read.opened)
    out.deliver(shown(found, where.format, view), where.path)
    return 0 if found else WRONG
