"""The options of what is printed for a class: texts of one's own, the first index, the decimal mark."""

from typing import Annotated

from attncalc.cli.settings import one_of, option
from attncalc.common.system import NamedTuple, shown
from attncalc.inputs.resolve import MAX_TEXT, decode, read_file
from attncalc.render.printing import Printing, texts_of

BASES, DECIMAL_MARKS = ("0", "1"), (".", ",")


class Printed(NamedTuple):
    """How pages are printed for a class."""

    texts: Annotated[
        str | None,
        option(
            "Print",
            "--texts",
            "FILE.md",
            "texts of one's own in Markdown, below the headings # Title, # Instructions, # Header, # Footer",
        ),
    ] = None
    index_base: Annotated[
        str | None,
        one_of("Print", "--index-base", BASES, "from which number on rows and columns count (0)"),
    ] = None
    print_decimal: Annotated[
        str | None,
        one_of("Print", "--print-decimal", DECIMAL_MARKS, "the decimal mark of numbers: . or , (.)", "MARK"),
    ] = None

    @property
    def printing(self) -> Printing:
        """What these options ask for."""
        texts = {}
        if self.texts is not None:
            source = shown(self.texts)
            texts = texts_of(decode(read_file(self.texts, MAX_TEXT), source), source)
        return Printing(texts, int(self.index_base or 0), self.print_decimal or ".")
