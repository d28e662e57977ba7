"""Every calculation's own options live beside the common ones, without a word that means two things."""

from __future__ import annotations

import pytest
from typer.core import TyperOption

from attncalc.calculations import DERIVATIVES, TABLE, load
from attncalc.cli import carry_out
from attncalc.cli.command import Help
from attncalc.cli.settings import Arithmetic, Shown, Tables, command_of, is_spoken

COMMON = {*Shown._fields, *Arithmetic._fields, *Tables._fields, *Help._fields, "check", "operands", "own"}


@pytest.mark.parametrize("name", TABLE)
class TestEachCalculation:
    @pytest.mark.thorough
    def test_has_no_word_that_is_an_operand_and_an_option(self, name: str) -> None:
        calculation = load(name)
        words = [*(operand.name for operand in calculation.operands), *(option.name for option in calculation.options)]
        assert len(set(words)) == len(words)

    @pytest.mark.thorough
    def test_leaves_the_common_options_their_names(self, name: str) -> None:
        calculation = load(name)
        own = {operand.name for operand in calculation.operands if is_spoken(operand)} | {
            option.name for option in calculation.options
        }
        assert not own & (COMMON | {"upstream", "wrt", "gradcheck", "weights"})

    @pytest.mark.parametrize("derivative", ["", *DERIVATIVES])
    def test_spells_each_option_once_and_explains_it(self, name: str, derivative: str) -> None:
        options = [each for each in command_of(name, carry_out, derivative).params if isinstance(each, TyperOption)]
        spellings = [spelling for option in options for spelling in (*option.opts, *option.secondary_opts)]
        assert len(set(spellings)) == len(spellings)
        assert not [option.name for option in options if not option.help]
