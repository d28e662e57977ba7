"""Every calculation's own options live beside the common ones, without a word that means two things."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attncalc.calculations import TABLE, load
from attncalc.cli import sections, settings
from attncalc.cli.calculate import _spoken
from attncalc.cli.command import Command
from attncalc.cli.gradient import command
from attncalc.cli.groups import Root
from attncalc.render import FORMATS, PICTURES

COMMON = {
    option.name for option in (*sections.output_options(), *sections.arithmetic_options(), *sections.reading_options())
} | {"help", "words"}


def test_every_format_that_is_a_file_has_its_suffix() -> None:
    assert set(settings.SUFFIXES.values()) == {*FORMATS, *PICTURES} - {"plain"}


def backward(name: str) -> Command:
    return command().build(name)


@pytest.mark.parametrize("name", TABLE)
class TestEachCalculation:
    def test_has_no_word_that_is_an_operand_and_an_option(self, name: str) -> None:
        calculation = load(name)
        words = [*(operand.name for operand in calculation.operands), *(option.name for option in calculation.options)]
        assert len(set(words)) == len(words)

    def test_leaves_the_common_options_their_names(self, name: str) -> None:
        calculation = load(name)
        own = {operand.name for operand in _spoken(calculation)} | {option.name for option in calculation.options}
        assert not own & (COMMON | {"upstream", "wrt", "gradcheck", "weights"})

    @pytest.mark.parametrize("make", [Root(name="attncalc").build, backward], ids=["forward", "backward"])
    def test_spells_each_option_once(self, name: str, make: Callable[[str], Command]) -> None:
        made = make(name)
        spellings = [spelling for option in made.options for spelling in (*option.opts, *option.secondary_opts)]
        assert len(set(spellings)) == len(spellings)

    def test_explains_each_option(self, name: str) -> None:
        made = Root(name="attncalc").build(name)
        assert not [option.name for option in made.options if not option.help]
