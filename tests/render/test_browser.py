"""The HTML page in a browser: pointing and walking light what an entry was made from, and nobody's text runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from solved import page_in
from test_samples import PROBLEMS, posed

import attncalc as ac
from attncalc.common.errors import AttncalcError
from attncalc.homework.quiz.handouts import files
from attncalc.homework.quiz.worksheets import Wording
from attncalc.record.trace import Given, Remark
from attncalc.render import View
from attncalc.render.page import Paragraph
from attncalc.render.printing import Printing
from attncalc.solve.problem import Backward
from attncalc.solve.solver import solve

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PDFTOTEXT = shutil.which("pdftotext")
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
REPORT = """{
window.alert = () => { document.title = "something ran"; };
const found = {};
const cell = how => document.querySelector(`[data-how^="${CSS.escape(how)}"]`);
const texts = (name, inside) =>
  [...document.querySelectorAll(`.${name}`)].filter(cell => Boolean(cell.closest(".panel")) === inside)
    .map(cell => cell.textContent).join(" ");
const lit = name => texts(name, false);
const said = () => [...document.querySelectorAll("output")].map(how => how.textContent).join("");
const state = () => [lit("at"), lit("lit-0"), lit("lit-1"), said()];
const point = (cell, kind) => cell.dispatchEvent(new PointerEvent(kind, { bubbles: kind === "pointerover" }));
const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
addEventListener("load", () => {
  TEST
  const report = document.createElement("pre");
  report.id = "report";
  report.textContent = JSON.stringify(found);
  document.body.append(report);
});
}"""


class Seen(NamedTuple):
    """What a browser made of a page."""

    page: str
    console: str

    @property
    def found(self) -> Any:
        """What the test's own script has written down."""
        report = re.search(r'<pre id="report">(.*?)</pre>', self.page, re.DOTALL)
        assert report, self.console
        return json.loads(unescape(report[1]))


Look = Callable[[str], Seen]
Browse = Callable[..., "subprocess.CompletedProcess[str]"]
QUIET = ("quic", "background-networking", "component-update", "sync")


@pytest.fixture(scope="module")
def browse(tmp_path_factory: pytest.TempPathFactory) -> Browse:
    """Open a page in a browser without a window."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        pytest.skip(f"no browser here: none of {', '.join(NAMES)}")
    folder = tmp_path_factory.mktemp("browser")

    def opened(page: str, *options: str) -> subprocess.CompletedProcess[str]:
        file = folder / "page.html"
        file.write_text(page, encoding="utf-8")
        call = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'user'}"]
        call += ["--no-first-run", *(f"--disable-{each}" for each in QUIET), *options, file.as_uri()]
        return subprocess.run(call, capture_output=True, encoding="utf-8", timeout=120, check=False)

    return opened


@pytest.fixture(scope="module")
def look(browse: Browse) -> Look:
    """Open a page in a browser, and read back what became of it."""

    def opened(page: str) -> Seen:
        done = browse(page, "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom")
        console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
        return Seen(done.stdout, console)

    if "<p>it works</p>" not in opened("<!DOCTYPE html><title>t</title><p>it works</p>").page:
        pytest.skip("the browser does not start here")
    return opened


def trying(page: str, test: str) -> str:
    """A copy of the page that tries itself out; its policy would not let that pass."""
    page, changed = POLICY.subn("", page)
    assert changed == 1
    return page.replace("</head>", f"<script>{REPORT.replace('TEST', test)}</script></head>")


GROUP = 20
"""Samples whose pages are opened at once: a browser takes longer to start than to open one."""
GROUPS = [
    pytest.param(first, marks=[pytest.mark.release] * (first != GROUP)) for first in range(0, len(PROBLEMS), GROUP)
]
"""The first of each; --thorough opens the second, with blocks and a whole model, and --release all others."""
FRAMED = """<!DOCTYPE html><meta charset="utf-8"><title>t</title>
<style>iframe { display: block; border: 0; width: WIDTHpx; height: 900px; }</style>FRAMES
<script>addEventListener("load", async () => {
  const found = {};
  await Promise.all([...document.querySelectorAll("iframe")].map(async frame => {
    const page = frame.contentDocument, window = frame.contentWindow;
    const of = selector => [...page.querySelectorAll(selector)];
    found[frame.name] = await (async () => { TEST })();
  }));
  const report = document.createElement("pre");
  report.id = "report";
  report.textContent = JSON.stringify(found);
  document.body.append(report);
});</script>"""


def framed(pages: dict[str, str], test: str, width: int) -> str:
    """Several pages as they are, side by side in one that tries each of them out."""
    frames = "".join(f'<iframe name="{name}" srcdoc="{escape(page)}"></iframe>' for name, page in pages.items())
    return FRAMED.replace("WIDTH", str(width)).replace("TEST", test).replace("FRAMES", frames)


@cache
def sampled(first: int) -> dict[str, str]:
    """The pages of a group of samples, forward and backward."""
    pages = {}
    for name in PROBLEMS[first : first + GROUP]:
        problem = posed(name)
        for backward in [problem.backward] if problem.backward else [None, Backward()]:
            with suppress(AttncalcError):  # not every one has a gradient
                trace = solve(problem._replace(backward=backward))
                pages[f"grad {name}" if backward else name] = page_in("html", trace)
    return pages


ATTENTION = page_in(
    "html", ac.attention([[1, 0, 1], [0, 1, 1]], [[1, 1, 0], [0, 1, 1]], [[1, 2, 3], [4, 5, 6]], causal=True), View()
)


@pytest.mark.thorough
def test_the_page_as_it_is_runs_its_script_and_complains_of_nothing(look: Look) -> None:
    seen = look(ATTENTION)
    assert not seen.console
    assert '<p class="hint faint">' in seen.page  # it is hidden where no script runs
    assert seen.page.count('<output class="how"></output>') == 1  # what is said is said in one place
    assert seen.page.count('tabindex="0"') == 5  # one stop for each table


@pytest.mark.thorough
def test_pointing_lights_what_an_entry_was_made_from(look: Look) -> None:
    found = look(
        trying(
            ATTENTION,
            """
            point(cell("output[1,2]"), "pointerover"); found.over = state();
            found.copied = [texts("lit-0", true), texts("lit-1", true)];
            point(cell("output[1,2]").closest(".stack"), "pointerleave"); found.away = state();
            point(cell("masked[0,1]"), "pointerover"); found.masked = state();
            """,
        )
    ).found
    how = "output[1,2] = 0.35954×3 + 0.64046×6 = 4.9214, from weights at n=1 and V at d_v=2"
    assert found["over"] == ["4.9214", "0.3595 0.6405", "3 6", how]
    assert found["copied"] == found["over"][1:3]  # in sight wherever the page has been scrolled to
    assert found["away"] == ["", "", "", ""]
    assert found["masked"] == ["−∞", "", "", "masked[0,1] = −∞ (masked: 1 > 0)"]


@pytest.mark.thorough
def test_powers_stand_above_the_line_and_are_copied_with_their_signs(look: Look) -> None:
    found = look(
        trying(
            ATTENTION,
            """
            point(cell("weights[0,1]"), "pointerover");
            const how = document.querySelector(".how");
            const copied = node => { getSelection().selectAllChildren(node); return getSelection().toString(); };
            found.panel = [copied(how), [...how.querySelectorAll("sup")].map(power => power.innerHTML)];
            found.line = copied(document.querySelector(".worked:has(sup)"));
            const [power, sign] = [how.querySelector("sup"), how.querySelector(".caret")];
            found.seen = [power, sign].map(each => each.getBoundingClientRect().width > 0);
            found.raised = power.getBoundingClientRect().bottom < how.getBoundingClientRect().bottom;
            """,
        )
    ).found
    assert found["panel"][0].startswith("weights[0,1] = e^(−∞) / (e^0.5774 + e^(−∞)) = 0")
    hidden = '<span class="caret">^(</span>−∞<span class="caret">)</span>'
    assert found["panel"][1][:2] == [hidden, '<span class="caret">^</span>0.5774<span class="caret"></span>']
    assert found["line"].strip() == "weights[0,0] = e^0.5774 / (e^0.5774 + e^(−∞)) = 1"
    assert (found["seen"], found["raised"]) == ([True, False], True)


@pytest.mark.thorough
def test_the_panel_does_not_cover_what_is_pointed_at(look: Look) -> None:
    """At the foot of the page it stands at the head of the window."""
    found = look(
        trying(
            ATTENTION,
            """
            const inSight = shown => {
              const { left, top, width, height } = shown.getBoundingClientRect();
              return shown.contains(document.elementFromPoint(left + width / 2, top + height / 2));
            };
            document.documentElement.style.scrollBehavior = "auto";
            scrollTo(0, document.documentElement.scrollHeight);
            point(cell("output[1,2]"), "pointerover");
            found.foot = inSight(cell("output[1,2]"));
            cell("scores[0,0]").scrollIntoView({ block: "start" });
            point(cell("scores[0,0]"), "pointerover");
            found.head = [inSight(cell("scores[0,0]")), document.querySelector(".panel").classList.contains("high")];
            """,
        )
    ).found
    assert found == {"foot": True, "head": [True, False]}


@pytest.mark.thorough
def test_what_is_pointed_at_is_told_from_every_shade(look: Look) -> None:
    """A number in the colour of paper is not seen on a light shade."""
    trace = solve(posed("attention")._replace(backward=Backward()))
    found = look(
        trying(
            page_in("html", trace),
            """
            const ground = of => `${getComputedStyle(of).backgroundImage} ${getComputedStyle(of).backgroundColor}`;
            for (const kind of ["at", "lit-0", "covered"]) {
              const cells = [...document.querySelectorAll(".step td:is([class^=h], [class^=p], [class^=m])")];
              found.shades = new Set(cells.map(cell => cell.className)).size;
              found[kind] = [...new Set(cells.map(cell => {
                cell.classList.add(kind);
                const seen = ground(cell);
                cell.classList.remove(kind);
                return seen;
              }))];
            }
            """,
        )
    ).found
    assert found["shades"] > 10
    assert [len(found[kind]) for kind in ("at", "lit-0", "covered")] == [1, 1, 1]
    assert len({*found["at"], *found["lit-0"], *found["covered"]}) == 3


@pytest.mark.thorough
def test_lines_of_a_long_formula_are_no_higher_because_of_its_font(look: Look) -> None:
    """A font for formulas may ask for lines five times as high as its letters."""
    page = page_in("html", solve(posed("attention-rope")))
    test = """
    const parts = [...document.querySelectorAll("math.long, math.long > semantics > mrow, math.long mrow.long")];
    found.heights = parts.map(part => getComputedStyle(part).lineHeight);
    """
    heights = look(trying(page, test)).found["heights"]
    assert heights
    assert "normal" not in heights


@pytest.mark.thorough
def test_a_keyboard_reaches_every_entry(look: Look) -> None:
    found = look(
        trying(
            ATTENTION,
            """
            const stops = () => document.querySelectorAll('.result [tabindex="0"]').length;
            cell("output[0,0]").focus(); found.first = state(); found.stops = stops();
            press("ArrowRight"); press("ArrowDown"); found.walked = state(); found.still = stops();
            press("ArrowDown"); press("ArrowRight"); press("ArrowRight"); found.end = state();
            press("Escape"); found.escaped = state();
            document.activeElement.blur(); found.left = state();
            """,
        )
    ).found
    assert found["first"][:3] == ["1.0000", "1.0000 0.0000", "1 4"]
    assert found["walked"][:3] == ["3.9214", "0.3595 0.6405", "2 5"]
    assert found["end"][0] == "4.9214"  # the last entry of all: there is nowhere to go on to
    assert found["stops"] == found["still"] == 1
    assert found["escaped"] == found["left"] == ["", "", "", ""]


@pytest.mark.thorough
def test_what_is_pointed_at_is_never_below_what_is_told_of_it(look: Look) -> None:
    found = look(
        trying(
            ATTENTION,
            """
            found.above = [...document.querySelectorAll("td[data-how]")].map(cell => {
              scrollBy({ top: cell.getBoundingClientRect().bottom - innerHeight, behavior: "instant" });
              point(cell, "pointerover");
              const at = cell.getBoundingClientRect();
              const there = document.elementFromPoint((at.left + at.right) / 2, (at.top + at.bottom) / 2);
              return Boolean(there?.closest(".panel"));
            });
            """,
        )
    ).found
    assert found["above"]
    assert not any(found["above"])


@pytest.mark.thorough
def test_what_is_pinned_leads_back_to_what_was_given(look: Look) -> None:
    found = look(
        trying(
            ATTENTION,
            """
            const trail = () => [...document.querySelectorAll(".trail button")].map(step => step.textContent);
            const into = how => document.querySelector(`.from [data-how^="${CSS.escape(how)}"]`).click();
            cell("output[1,2]").click();
            point(cell("scores[0,0]"), "pointerover"); found.pinned = said().split(" = ")[0];
            into("weights[1,0]"); into("masked[1,0]"); into("scaled[1,0]"); into("scores[1,0]");
            found.trail = trail(); found.end = [texts("lit-0", true), texts("lit-1", true)];
            document.querySelectorAll(".trail button")[1].click(); found.back = trail();
            document.querySelector(".close").click(); found.closed = [state(), document.querySelector(".panel").hidden];
            """,
        )
    ).found
    assert found["pinned"] == "output[1,2]"
    assert found["trail"] == ["output[1,2]", "weights[1,0]", "masked[1,0]", "scaled[1,0]", "scores[1,0]"]
    assert found["end"] == ["0 1 1", "1 1 0"]  # what was given of Q and of K
    assert found["back"] == found["trail"][:2]
    assert found["closed"][1] or found["closed"][0][3].startswith("output[1,2]")  # its cell has the focus again


@pytest.mark.thorough
def test_a_link_opens_what_is_around_it_and_a_value_can_be_predicted(look: Look) -> None:
    found = look(
        trying(
            ATTENTION,
            """
            const folds = [...document.querySelectorAll("details")], tool = name => document.querySelector(`.${name}`);
            const open = () => folds.filter(part => part.open).length;
            const answer = document.querySelector(".asked input");
            tool("fold").click(); found.folded = open();
            location.hash = "#weights-1-0"; follow(); found.linked = [open(), lit("at"), said().split(" = ")[0]];
            tool("unfold").click(); found.all = open() === folds.length;
            tool("predict").click(); found.covered = lit("covered").split(" ").every(text => text === "?");
            cell("scores[1,1]").click(); found.asked = [said(), document.activeElement === answer];
            answer.value = "3"; answer.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
            found.wrong = said();
            cell("scores[0,0]").click(); answer.value = "1"; tool("look").click(); found.right = said();
            tool("predict").click(); found.left = lit("covered");
            """,
        )
    ).found
    assert found["folded"] == 0
    assert found["linked"] == [2, "0.3595", "weights[1,0]"]  # the steps, and the one
    assert found["all"]
    assert found["covered"]
    assert found["asked"] == ["", True]
    assert found["wrong"].startswith("You said 3; it is 2. scores[1,1] = ")
    assert found["right"].startswith("You said 1; it is 1, right. scores[0,0] = ")
    assert found["left"] == ""


@pytest.mark.thorough
@pytest.mark.parametrize("first", GROUPS)
def test_nothing_on_the_page_gives_away_what_is_to_be_predicted(look: Look, first: int) -> None:
    test = r"""
    const worked = of(".step td, .step strong").map(cell => cell.textContent);
    const values = new Set(worked.filter(said => /\d.?\d\d/.test(said)));
    for (const cell of of(".operands td, .operands .value span, th")) values.delete(cell.textContent);
    of("details").forEach(part => part.open = true);
    of(".predict").forEach(button => button.click());
    const is_shaded = cell => {
      const { backgroundImage, backgroundColor } = window.getComputedStyle(cell);
      return backgroundImage !== "none" || !backgroundColor.endsWith(" 0)");
    };
    const texts = page.createTreeWalker(page.querySelector("main"), NodeFilter.SHOW_TEXT), told = [];
    while (texts.nextNode()) {
      const { data, parentElement: around } = texts.currentNode;
      if (around.checkVisibility() && !around.closest(".panel, annotation"))
        told.push(...(data.match(/[-−]?\d[\d.]*/g) ?? []).filter(said => values.has(said)));
    }
    const labels = of("[title], [aria-label]").flatMap(part => [part.title, part.ariaLabel]);
    told.push(...labels.filter(said => values.has(said)));
    return { told, shaded: of("td.covered").filter(is_shaded).length, values: values.size };
    """
    found = look(framed(sampled(first), test, 1440)).found
    assert set(found) == set(sampled(first))
    assert {name: said for name, said in found.items() if said["told"] or said["shaded"]} == {}
    assert sum(said["values"] for said in found.values()) > 100


@pytest.mark.thorough
def test_every_matrix_of_a_stack_can_be_walked_to(look: Look) -> None:
    page = page_in("html", ac.matmul(np.arange(12.0).reshape(3, 2, 2), np.eye(2)), View())
    found = look(trying(page, """found.stops = document.querySelectorAll('.result td[tabindex="0"]').length;""")).found
    assert found["stops"] == 3


@pytest.mark.release
@pytest.mark.parametrize("name", ["optimizer-adamw", "beam"])
def test_on_a_phone_the_link_to_a_part_is_never_alone_on_a_line(look: Look, name: str) -> None:
    test = """
    const behind = page.createRange();
    return of("summary .link").filter(link => {
      behind.selectNodeContents(link.previousSibling);
      return link.getBoundingClientRect().top > [...behind.getClientRects()].pop().bottom - 3;
    }).map(link => link.parentElement.textContent);
    """
    problem = posed(name)
    trace = solve(problem._replace(backward=Backward()) if name == "optimizer-adamw" else problem)
    assert look(framed({name: page_in("html", trace)}, test, 375)).found == {name: []}


@pytest.mark.thorough
@pytest.mark.parametrize("first", GROUPS)
def test_on_a_phone_no_formula_is_wider_than_the_page(look: Look, first: int) -> None:
    """What no line can end in, a fraction or cases, is written in letters there; so is what a sum has below it."""
    test = """
    of("details").forEach(part => part.open = true);
    const formulas = of("p.formula").filter(part => !part.closest(".panel"));
    let wide = formulas;
    for (let tries = 0; wide.length && tries < 200; tries++) {  // what is opened is fitted before it is painted
      await new Promise(done => window.requestAnimationFrame(() => window.setTimeout(done, 50)));
      wide = formulas.filter(part => part.scrollWidth > part.clientWidth);
    }
    return { all: formulas.length, wide: wide.map(part => part.textContent), lettered: of(".lettered").length };
    """
    found = look(framed(sampled(first), test, 375)).found
    assert {name: said["wide"] for name, said in found.items() if said["wide"]} == {}
    assert sum(said["all"] for said in found.values()) > 100 > sum(said["lettered"] for said in found.values())


def cut_on_paper(look: Look, pages: dict[str, str]) -> dict[str, list[str]]:
    """What the edge of A4 would cut, by the pages on which it is: as wide as that, with the style of paper."""
    test = """
    of("details").forEach(part => part.open = true);
    const inside = ".unseen, .panel, svg, math";
    const is_cut = part => part.getClientRects().length && !part.closest(inside) &&
      (part.scrollWidth > part.clientWidth + 1 && part.matches(".scroll, .formula, figure, section, p, li") ||
        part.getBoundingClientRect().right > window.innerWidth + 1);
    return of("main *").filter(is_cut).map(part => `${part.closest("[id]")?.id}: ${part.tagName} ${part.className}`);
    """
    printed = {name: POLICY.sub("", page).replace("@media print", "@media all") for name, page in pages.items()}
    found = look(framed(printed, test, 718)).found
    assert set(found) == set(pages)
    return {name: cut for name, cut in found.items() if cut}


@pytest.mark.thorough
@pytest.mark.parametrize("first", GROUPS)
def test_the_edge_of_paper_cuts_nothing(look: Look, first: int) -> None:
    assert cut_on_paper(look, sampled(first)) == {}


@pytest.mark.release
def test_the_edge_of_paper_cuts_no_table_however_wide_it_is(look: Look) -> None:
    words = ["unexceptionally", "so", "incomprehensible"] * 30
    pages = {}
    for size in (9, 13, 17, 40, 90):
        trace = ac.softmax(np.arange(2.0 * size).reshape(2, size) * -1e3)
        named = trace._replace(steps=tuple(step._replace(labels={"n": tuple(words[:size])}) for step in trace.steps))
        pages[f"{size} numbers"] = page_in("html", trace, View(everything=True))
        pages[f"{size} words"] = page_in("html", named, View(everything=True))
    assert cut_on_paper(look, pages) == {}


def on_paper(browse: Browse, page: str, folder: Path) -> list[list[str]]:
    """The lines of each page that a browser prints."""
    browse(page, "--no-pdf-header-footer", f"--print-to-pdf={folder / 'page.pdf'}")
    words = [str(PDFTOTEXT), "-layout", "page.pdf", "-"]
    printed = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=True).stdout
    return [[line.strip() for line in page.splitlines() if line.strip()] for page in printed.split("\f")]


@cache
def worksheets() -> dict[str, str]:
    """Problems to be worked out by hand, some of them wide, with a teacher's own texts around them."""
    texts = {
        "Footer": (Paragraph("Good luck!"),),
        "Instructions": (Paragraph("Work alone."), Paragraph("Four digits.")),
    }
    wording = Wording(printing=Printing(texts))
    names = ("mlp", "multihead", "cross-entropy", "embed", "cosine", "pairwise")
    return {name: files(posed(name), ("html",), wording=wording)["worksheet.html"] for name in names}


@pytest.mark.thorough
def test_on_paper_there_is_room_to_write_a_number_by_hand(look: Look) -> None:
    test = """
    const size = part => part.getBoundingClientRect(), top = part => Math.round(size(part).top);
    const few = of(".blank").filter(part => !part.matches("tr:has(:nth-child(10)) > *"));
    const given = of(".operands > div");
    return { few: few.map(size).map(each => [each.width, each.height]), all: of(".blank").length,
             rows: new Set(given.map(top)).size, given: given.length };
    """
    printed = {name: POLICY.sub("", page).replace("@media print", "@media all") for name, page in worksheets().items()}
    found = look(framed(printed, test, 718)).found
    millimetre = 96 / 25.4
    for name, said in found.items():
        assert said["all"] > 0, name
        for width, height in said["few"]:
            assert width > 21 * millimetre - 1, name  # a line of 18 mm, and its ends
            assert height > 8 * millimetre, name
        assert said["given"] == 1 or said["rows"] < said["given"], name
    assert cut_on_paper(look, worksheets()) == {}


@pytest.mark.skipif(not PDFTOTEXT, reason="needs pdftotext")
@pytest.mark.parametrize("name", ["mlp", "multihead"])
def test_on_paper_work_begins_below_its_instructions_and_no_footer_is_alone(
    browse: Browse, look: Look, tmp_path: Path, name: str
) -> None:
    pages = [page for page in on_paper(browse, worksheets()[name], tmp_path) if page]
    assert pages[-1][-1] == "Good luck!"
    assert len(pages[-1]) > 4
    assert all(page[-1] != "Four digits." for page in pages)


@pytest.mark.skipif(not PDFTOTEXT, reason="needs pdftotext")
def test_on_paper_no_heading_stands_at_the_foot_of_a_page(browse: Browse, look: Look, tmp_path: Path) -> None:
    trace = solve(posed("encoder-block")._replace(backward=Backward()))
    pages = on_paper(browse, page_in("html", trace), tmp_path)
    headings = {"Given", "Result", *(step.name for step in trace.steps), *(step.group for step in trace.steps)} - {""}
    lasts = [page[-1].removesuffix(", backward").lstrip("0123456789 ") for page in pages if page]
    assert len(lasts) > 10
    assert headings & set(lasts) == set()


@pytest.mark.thorough
def test_nobodys_text_runs(look: Look, make: Any) -> None:
    words = (
        "</script><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "'onfocus=alert(1) autofocus x='",
        "<svg onload=alert(1)>",
        "]]>--><!--\u2028\u202e",
        "</title><style>*{display:none}",
    )
    step = make.step("x", np.ones((6, 6)), "n m", labels={"n": words, "m": words}, why=words[0])
    lines = {"x": lambda at: (f"max({words[at[0]]})",)}
    given = Given(
        np.ones((6, 6)), source=words[1], remarks=(Remark("shape", words[2]),), labels={0: words}, axes=("n", "d")
    )
    told = {"options": {"scale": words[3]}, "notes": words, "warnings": words}
    trace = make.trace(step, arithmetic=lines, inputs={"q": given}, **told)
    page = page_in("html", trace._replace(calculation=words[5], summary=words[4]), View())
    test = """
    found.scripts = document.scripts.length;
    found.strangers = document.querySelectorAll("img, svg, [onerror], [onload], [onfocus]").length;
    for (const cell of document.querySelectorAll("td")) cell.focus();
    found.title = document.title;
    found.cells = document.querySelectorAll(".result td[data-how]").length;
    """
    assert look(trying(page, test)).found == {"scripts": 2, "strangers": 0, "title": words[5], "cells": 36}
