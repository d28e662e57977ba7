"""Pictures as PNG and SVG files: the same bytes every time, whatever the settings; and without Matplotlib."""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import attncalc as ac
from attncalc.common.errors import AttncalcError
from attncalc.record.pictures import Bars, Curves, HeatMap, Landscape, Line, Marks, Picture, Ticks
from attncalc.record.trace import Trace
from attncalc.render import PICTURES, View, render
from attncalc.render.pictures.figure import DRAWN, _own_settings, fonts_for

PNG = b"\x89PNG\r\n\x1a\n"
NASTY = ("$\\frac{$", "<script>x</script>", "\x1b[2J", "猫🙂", "&amp;", "long " * 40)
X = np.linspace(-1, 1, 21)
NUMBERS = np.array([0.0, -np.inf, np.inf, np.nan, 1e300, -1e-300])
SIDE = Ticks("n", NASTY, own=True)
WAY = Marks("the way", X[::5], X[::5], ordered=True)
FLAT = np.ones((21, 21))
KINDS: dict[str, Picture] = {
    "a heat map": HeatMap("a", np.tile(NUMBERS, (6, 1)), SIDE, SIDE, -1e-300, 1e300, np.eye(6, dtype=bool)),
    "bars": Bars(NASTY[0], NUMBERS, SIDE),
    "curves": Curves("f", "x", (Line("f", X, X**2), Line(NASTY[0], X, np.where(X > 0, X, np.nan))), WAY),
    "one point": Curves("f", "x", (Line("f", X[:1], X[:1]),)),
    "a landscape": Landscape("f", "x", "y", X, X, X[None, :] * X[:, None], WAY),
    "a plain": Landscape("f", "x", "y", X, X, FLAT, WAY._replace(x=X, y=X)),
    "an abyss": Landscape("f", "x", "y", X, X, FLAT * np.nan, WAY),
}

needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="the extra plot brings what draws it")


def drawn(format: str, *pictures: Picture) -> bytes:
    trace = Trace("demo", "A demonstration.", {}, {}, (), (), pictures=pictures)
    content = render(trace, format, View())
    return content.encode() if isinstance(content, str) else content


def is_whole(content: bytes, format: str) -> bool:
    """A PNG from its signature to its last chunk, or an SVG that is well-formed."""
    if format == "png":
        return content.startswith(PNG) and content[-12:] == b"\x00\x00\x00\x00IEND\xaeB`\x82"
    return ElementTree.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314 (our own output)


@pytest.mark.thorough
@pytest.mark.spread
@needs_matplotlib
@pytest.mark.parametrize("format", PICTURES)
@pytest.mark.parametrize("picture", KINDS.values(), ids=KINDS)
def test_every_kind_is_drawn_without_a_word(picture: Picture, format: str, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        content = drawn(format, picture)
    assert is_whole(content, format)
    assert capfd.readouterr() == ("", "")


@pytest.mark.thorough
@needs_matplotlib
@pytest.mark.parametrize("picture", ["curves", "a landscape"])
def test_a_legend_lies_over_no_data(picture: str) -> None:
    from matplotlib.figure import Figure

    drawn = Figure(layout="constrained")
    axes = drawn.add_subplot()
    with _own_settings("png", ""):
        DRAWN[type(KINDS[picture])](axes, KINDS[picture], View())
        drawn.draw_without_rendering()
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y0 >= 0
    assert legend.get_window_extent().y1 < axes.xaxis.label.get_window_extent().y0


@needs_matplotlib
@pytest.mark.parametrize(
    ("x", "whole"), [pytest.param(np.arange(5), True, id="steps"), pytest.param(X, False, id="a line of numbers")]
)
def test_what_is_counted_has_no_halves_along_its_side(x: Any, whole: bool) -> None:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    DRAWN[Curves](axes, Curves("f", "x", (Line("f", x, x**2),)), View())
    assert np.array_equal(axes.get_xticks(), np.rint(axes.get_xticks())) is whole


@needs_matplotlib
@pytest.mark.spread
@pytest.mark.parametrize("format", PICTURES)
def test_the_same_numbers_are_the_same_bytes(format: str) -> None:
    pictures = [KINDS["bars"], KINDS["curves"], KINDS["a landscape"]]
    assert drawn(format, *pictures) == drawn(format, *pictures)


@pytest.mark.thorough
@needs_matplotlib
def test_the_text_of_an_svg_is_text_and_nothing_else() -> None:
    content = drawn("svg", KINDS["bars"])
    root = ElementTree.fromstring(content)  # noqa: S314 (our own output)
    said = {node.text for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"$\\frac{$", "<script>x</script>", "\\x1b[2J", "猫🙂", "&amp;"} <= said
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


@needs_matplotlib
@pytest.mark.parametrize(
    ("text", "others"),
    [("the cat, √2", 0), ("ᶊ", 1), ("ᶊᶊ⎰", 2), ("\U0010ffff", 0)],
    ids=["usual characters", "a rare one", "two of them", "one that no font has"],
)
def test_what_the_usual_font_lacks_is_looked_for_in_the_others(text: str, others: int) -> None:
    first, *further = fonts_for(text)
    assert first == "DejaVu Sans"
    assert min(others, 1) <= len(further) <= others


@needs_matplotlib
@pytest.mark.spread
@pytest.mark.parametrize("setting", ["text.usetex: True", "nonsense", "savefig.dpi: 3\naxes.grid: True"])
def test_settings_of_the_reader_change_nothing(
    setting: str, run: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "matplotlibrc").write_text(setting)
    plain = run("softmax", "1,2", "-o", "plain.png")
    environment = {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc"), "MPLBACKEND": "no such thing"}
    done = run("softmax", "1,2", "-o", "x.png", env=environment)
    assert (plain.returncode, done.returncode, plain.stderr, done.stderr) == (0, 0, "", "")
    assert (tmp_path / "x.png").read_bytes() == (tmp_path / "plain.png").read_bytes()


@needs_matplotlib
@pytest.mark.spread
@pytest.mark.parametrize("format", PICTURES)
def test_a_trace_writes_its_file(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"x.{format}"
    assert ac.softmax([1.0, 2.0]).plot(path) == str(path)
    assert is_whole(path.read_bytes(), format)
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@pytest.mark.spread
@pytest.mark.parametrize("format", PICTURES)
def test_without_matplotlib_it_is_said_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, format: str
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = tmp_path / f"x.{format}"
    path.write_bytes(b"old")
    with pytest.raises(
        AttncalcError, match=rf"Matplotlib draws {format.upper()} files, but it is not installed"
    ) as fault:
        ac.softmax([1.0, 2.0]).plot(path)
    assert fault.value.hint == "pip install 'attncalc[plot]'"
    assert path.read_bytes() == b"old"
