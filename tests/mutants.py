"""Mutates what the package says, one place at a time, and tells which changes the read-back tests do not notice.

    python tests/mutants.py                 every template and cell of every row, and all words
    python tests/mutants.py softmax sum     those of some rows
    python tests/mutants.py words           what mistakes say, numbers and signs in reasons, numbers in hints

A mutant lives in a fork of this process, so that nothing is left of it. What is equivalent to what stood there stands
in EQUIVALENT with its reason; the script fails where anything else survives, or where an equivalent one is noticed.
"""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import numpy as np
from language.ops.examples import EXAMPLES, Example
from language.ops.test_lines import come_out, lines
from readback.graphs import CALCULATED, SMOOTH, Printed, of_calculation, of_gradient, of_row
from readback.hints import HINTS
from readback.pages import behind
from readback.says import Case, readings
from readback.test_formulas import UNREADABLE, faults, shown
from readback.test_reasons import QUOTED, STATED, beside, is_true_of, left_over, names, sentences
from readback.test_says import is_told_truly, planted

from attncalc.calculations import TABLE
from attncalc.homework.diagnosis.key import known
from attncalc.language.graph import Node, step
from attncalc.language.primitive import OPS, Form, Literal, Op, Pick, formula


class Mutant(NamedTuple):
    """What is changed, how, and by what."""

    op: str
    field: str  # text, latex, cell
    kind: str  # sign, name, sources, number
    row: Op


COMMUTES = "the same in any order"
SYMMETRIC = ("add", "equal", "and", "maximum", "minimum")
SUMMED = ("peak", "matmul", "sum", "fold", "collect", "gather", "one_plus_erf", "bucket")
MULTIPLIED = ("outer", "mul", "weigh", "softmax_slopes", "elu")
EQUIVALENT: dict[tuple[str, str, str], str] = {
    **{(op, "cell", "sources"): COMMUTES for op in (*SYMMETRIC, *SUMMED, *MULTIPLIED)},
    **{(op, field, "sources"): COMMUTES for op in SYMMETRIC for field in ("text", "latex")},
    **{("safely", f, "sources"): "the second is the same number, found in another way" for f in ("text", "latex")},
}
TEXT_SIGNS = """+ − / − + / ⊙ + / ⊗ + / ÷ · / · ÷ / √ / ² ^3 / ^ · / ≤ < / < ≤ / = < / and = / not / ᵀ
/ ⁻¹ / | / ! / Σ / ; , / …"""
LATEX_SIGNS = r"""+ - / - + / \odot + / \otimes + / \frac \max / ÷ \cdot / \cdot ÷ / \sqrt / \le < / < \le / = <
/ \land = / \lnot / \top 2 / | / ! / \sum \max / ; , / ^ / \ldots , / & &&"""
SIGNS = {
    field: [
        (before.replace("÷", "/"), after[0].replace("÷", "/") if after else "")
        for before, *after in (change.split() for change in changes.split(" / " if " / " in changes else "/"))
    ]
    for field, changes in (("text", TEXT_SIGNS.replace("\n", " ")), ("latex", LATEX_SIGNS.replace("\n", " ")))
}
"""What a sign is changed into: the first of these that a template holds."""
NAMES = {"max": "min", "min": "max", "sin": "cos", "cos": "sin", "tan": "tanh", "tanh": "tan", "ln": "exp"}
NAMES |= {"exp": "ln", "mean": "max", "softmax": "mean", "logsumexp": "max", "erf": "tanh", "σ": "tanh", "log₂": "ln"}
NAMES |= {"log₁₀": "log₂", "largest": "softmax", "arccos": "cos", "sign": "erf", "split": "concat", "concat": "split"}
CELLS = {"+": "−", "−": "+", "×": "+", "/": "×", "√": "abs", "^": "×", "neg": "abs", "abs": "neg", "exp": "ln"}
CELLS |= {"ln": "exp", "max": "min", "min": "max", "sin": "cos", "cos": "sin", "≤": "<", "<": "≤", "=": "<"}
HOLD = "\ue000\ue001\ue002\ue003\ue004\ue005\ue006\ue007"
"""Stand for the sources' texts while a template is changed."""
END = "\uf000"


def mutants(*wanted: str) -> Iterator[Mutant]:
    """Every change of every row."""
    for op, row in list(OPS.items()):
        if wanted and op not in wanted:
            continue
        for field in ("text", "latex"):
            for kind in ("sign", "name", "sources", "number"):
                other: Any = changed(row, field, kind)
                yield Mutant(
                    op, field, kind, row._replace(text=other) if field == "text" else row._replace(latex=other)
                )
        for kind in ("sign", "name", "sources", "number", "place"):
            yield Mutant(op, "cell", kind, row._replace(cell=cell(row, kind)))


def changed(row: Op, field: str, kind: str) -> Callable[..., str]:
    """A template of which one thing is another."""
    template = getattr(row, field)

    def written(node: Node, *inner: str) -> str:
        if len(inner) > len(HOLD):
            return spelled(template, node, inner)
        places = HOLD[: len(inner)]
        skeleton = spelled(
            template, node, tuple(f"{place}{text}{END}" for place, text in zip(places, inner, strict=True))
        )
        skeleton = re.sub(f"([{HOLD}])[^{END}]*{END}", r"\1", skeleton)
        if kind == "sources" and len(inner) > 1:
            skeleton = skeleton.translate({ord(places[0]): places[1], ord(places[1]): places[0]})
        elif kind == "sign":
            pair = next((pair for pair in SIGNS[field] if pair[0] in skeleton), None)
            skeleton = skeleton.replace(*pair, 1) if pair else skeleton
        elif kind == "name":
            skeleton = re.sub(r"[A-Za-zσ₀-₉]{2,}", lambda f: NAMES.get(f[0], f[0] + "x"), skeleton, count=1)
            skeleton = skeleton.replace(r"\operatornamex", r"\operatorname{x}").replace(r"\textx", r"\text{x}")
        elif kind == "number":
            skeleton = re.sub(r"\d+", lambda f: str(int(f[0]) + 1), skeleton, count=1)
        for place, text in zip(places, inner, strict=True):
            skeleton = skeleton.replace(place, text)
        return skeleton

    return written


def spelled(template: Any, node: Node, inner: tuple[str, ...]) -> str:
    return str(template(node, *inner) if callable(template) else template.format(*inner, a=node.args))


def cell(row: Op, kind: str) -> Callable[..., Any]:
    """A cell of which one thing is another."""

    def made(node: Node, at: Any, look: Any) -> Any:
        found = row.cell(node, at, look)
        if isinstance(found, Pick) and kind == "place" and found.at:
            name, place = next(iter(found.at.items()))
            size = next(axis.size for axis in node.sources[found.source].axes if axis.name == name)
            return found._replace(at={**found.at, name: (place + 1) % size})
        if isinstance(found, Form):
            if kind == "sign":
                return found._replace(sign=CELLS.get(found.sign, "neg" if len(found.parts) == 1 else "max"))
            if kind == "sources" and len(found.parts) > 1:
                return found._replace(parts=(*found.parts[1::-1], *found.parts[2:]))
            if kind == "number":
                return counted(found)[0]
        if isinstance(found, Literal) and kind == "number" and not isinstance(found.value, str):
            return Literal(float(found.value) + 1)
        return found

    return made


def counted(form: Any) -> tuple[Any, bool]:
    """The first number in it, and one more."""
    if isinstance(form, Literal) and not isinstance(form.value, str):
        return Literal(form.value + 1), True
    if isinstance(form, Form):
        for i, part in enumerate(form.parts):
            new, done = counted(part)
            if done:
                return form._replace(parts=(*form.parts[:i], new, *form.parts[i + 1 :])), True
    return form, False


def noticed(mutant: Mutant) -> str:
    """`killed`, `survived`, or `same` where nothing that is printed has changed."""
    differs = False
    before = OPS[mutant.op]
    for printed, example in places(mutant.op):
        if example is None and not differs:
            return "same"
        was = said(mutant, printed, example)
        OPS[mutant.op] = mutant.row
        try:
            now = said(mutant, printed, example)
            differs = differs or was != now
            if was != now and wrong(mutant, printed, example):
                return "killed"
        except Exception:  # noqa: BLE001  (a template that breaks is noticed)
            return "killed"
        finally:
            OPS[mutant.op] = before
    return "survived" if differs else "same"


@cache
def places(op: str) -> list[tuple[Printed, Example | None]]:
    """What is printed with a row, of each page only the formulas that the row is in, where these can be read."""
    found = []
    for printed, example in where(op):
        nodes = [(node, group) for node, group in printed.nodes if any(part.op == op for part in behind(node))]
        formulas = printed._replace(nodes=nodes[:6])
        if nodes and not faults(formulas):
            found.append((formulas, example))
    return found[: len(EXAMPLES[op]) + 60]


def where(op: str) -> Iterator[tuple[Printed, Example | None]]:
    """What is printed with a row: its examples first, which are short, then whatever else it occurs in."""
    for example in EXAMPLES[op]:
        yield of_row(op, example), example
    for other, example in SMOOTH:
        printed = of_gradient(other, example)
        if any(node.op == op for node in printed.known):
            yield printed, None
    for tried in CALCULATED:
        found = of_calculation(tried)
        if found and not str(tried).startswith(tuple(UNREADABLE)) and any(node.op == op for node in found.known):
            yield found, None


def said(mutant: Mutant, printed: Printed, example: Example | None) -> Any:
    """What is printed of the field."""
    if mutant.field != "cell":
        style: Any = mutant.field
        return [formula(shown(node, group), style) for node, group in printed.nodes]
    return worked(printed, example) if example else None


def worked(printed: Printed, example: Example | None) -> list[tuple[str, float]]:
    assert example is not None
    values = {node.args["name"]: value for node, value in printed.known.items() if node.op == "input"}
    return lines(step("result", printed.nodes[0][0], "…"), values)


def wrong(mutant: Mutant, printed: Printed, example: Example | None) -> bool:
    if mutant.field != "cell":
        return bool(faults(printed))
    try:
        come_out(worked(printed, example))
    except AssertionError:
        return True
    return False


def forked(work: Callable[[], str]) -> str:
    """What the work comes to, in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, work().encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        answer = answers.read().decode()
    os.waitpid(child, 0)
    return answer or "killed"


# Words

EXCHANGED = """max min / row column / rows columns / sum mean / before after / first last / query key / queries keys /
keys values / largest smallest / larger smaller / above below / more fewer / with without / multiplied divided / times
over / sine cosine / sines cosines / even odd / mean variance / added subtracted / left right / scores weights /
softmax sigmoid / tanh sigmoid / erf tanh / sin cos / ln log / exp ln / logits probabilities / square root / squares
differences / ahead behind / γ β / β ε / σ μ / Q K / K V / P V / a b / u v / i j / m v / U V / x z / p y / d_k d_v /
d_model d_k / H E / β₁ β₂ / W_Q W_K / W_K W_V / dQ dK / δ₂ z₁ / old new / earlier later / one all / head token / heads
tokens / block row / from to / ReLU SiLU / GELU ReLU / vector target / x θ / cosine sine / cosine distance / prior
likelihood / exchanged reversed / degrees radians"""
"""Words that are put for one another, both ways."""
MARKS = """+ − / − + / · ÷ / ÷ · / ⊙ + / √ / ² / ᵀ / ⁻¹ / Σ max / ∞ 1 / | / ′"""
"""Signs, and what is put for them; without it they are left out."""
STEP_BEFORE = "so is a step before it, of which it is as true"
UNNOTICED = {
    ("norm-not-squared", "Σa: the entries were not squared"): STEP_BEFORE,
    ("norm-euclidean", "Σa², whatever the power is"): STEP_BEFORE,
    ("mink-euclidean", "Σ(a − b)², whatever the power is"): STEP_BEFORE,
    ("cos-one-norm", "a·a over ‖a‖ alone"): "that is ‖a‖, and so the divisor is",
    ("cos-one-norm", "b·b over ‖b‖ alone"): "that is ‖b‖, and so the divisor is",
    ("bayes-ignore-prior", "likelihood / Σ prior: without the prior"): "the priors sum to 1",
}
"""Changed words that are as true, and why."""


def reworded(sentence: str) -> Iterator[str]:
    """A sentence with one word, sign or number changed, or what is said to have been due in the place of what was."""
    yield from sorted(_reworded(sentence) - {sentence})


def _reworded(sentence: str) -> set[str]:
    pairs = [tuple(pair.split()) for pair in EXCHANGED.replace("\n", " ").split(" / ")]
    changes = [(rf"(?<!\w){re.escape(a)}(?!\w)", b) for pair in pairs for a, b in (pair, pair[::-1])]
    changes += [(pattern, other.replace("÷", "/")) for pattern, other in _marks()]
    found = {
        sentence[: place.start()] + other + sentence[place.end() :]
        for pattern, other in changes
        for place in re.finditer(pattern, sentence)
    }
    found |= {
        f"{sentence[: place.start()]}{int(place[0]) + 1}{sentence[place.end() :]}"
        for place in re.finditer(r"\d+", sentence)
    }
    was, between, due = sentence.partition(" in place of ")
    return found | {due + between + was} if between and "the other way round" not in due else found


def _unsaid(sentence: str, other: str) -> bool:
    """Whether nobody says any more what was quoted from a sentence."""
    lost = [pattern for pattern in QUOTED.values() if pattern.search(sentence) and not pattern.search(other)]
    return any(sum(bool(pattern.search(said)) for said in sentences()) == 1 for pattern in lost)


def _resigned(sentence: str) -> list[str]:
    return [
        sentence[: place.start()] + other + sentence[place.end() :]
        for pattern, other in _marks()
        for place in re.finditer(pattern, sentence)
    ]


def _marks() -> list[tuple[str, str]]:
    marks = [mark.split() for mark in MARKS.split(" / ")]
    return [(re.escape(mark[0].replace("÷", "/")), mark[1] if len(mark) > 1 else "") for mark in marks]


def of_mistakes() -> Iterator[tuple[str, str, str]]:
    """(verdict, mistake, changed words) of every change of what mistakes say."""
    places: dict[tuple[str, str], list[list[Case]]] = {}
    for name in TABLE:
        for mistake, cases in planted(name) if known(name) else ():
            if cases:
                places.setdefault((mistake.id, mistake.says), []).append(cases)
    for (mistaken, says), several in places.items():
        for other in reworded(says):
            if not readings(other):
                yield "killed", mistaken, f"{other} (unread)"
            elif not all(is_told_truly(other, mistaken, cases) for cases in several):
                yield "killed", mistaken, other
            else:
                yield "equivalent" if (mistaken, other) in UNNOTICED else "survived", mistaken, other


def of_reasons() -> Iterator[tuple[str, str, str]]:
    """(verdict, where, changed words) of every change of a number or a sign in a reason, of a number in a hint."""
    for sentence in sorted(sentence for sentence in sentences() if STATED.search(sentence)):
        steps = [at for why, at in beside() if sentence in (why or "").split("; ")]
        named = [name.span() for name in names().finditer(sentence)]  # W_2 is written by the graph that has it
        for other in (*_renumbered(sentence, named), *_resigned(sentence)):
            noticed = STATED.search(left_over(other)) or not is_true_of(other, steps) or _unsaid(sentence, other)
            yield "killed" if noticed else "survived", "reason", other
    for hint in HINTS:
        for other in _renumbered(hint):
            yield "killed" if other not in HINTS else "survived", "hint", other


def _renumbered(sentence: str, but_in: Sequence[tuple[int, int]] = ()) -> list[str]:
    return [
        f"{sentence[: place.start()]}{int(place[0]) + 1}{sentence[place.end() :]}"
        for place in re.finditer(r"\d+", sentence)
        if not any(first <= place.start() < last for first, last in but_in)
    ]


def words() -> int:
    """How many changes of words are noticed."""
    start, counts, survived = time.monotonic(), dict.fromkeys(("killed", "equivalent", "survived"), 0), []
    unread = 0
    for verdict, where, other in (*of_mistakes(), *of_reasons()):
        counts[verdict] += 1
        unread += other.endswith("(unread)")
        survived += [f"{where}: {other}"] if verdict == "survived" else []
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    print(f"words: {counted}, {unread} of them unread, {time.monotonic() - start:.0f} s")
    print(*survived, sep="\n")
    return len(survived)


def main(*wanted: str) -> int:
    warnings.simplefilter("ignore")
    survived = words() if not wanted or "words" in wanted else 0
    return survived if wanted == ("words",) else templates(*wanted) + survived


def templates(*wanted: str) -> int:
    """How many changes of templates and cells are noticed."""
    start, counts = time.monotonic(), dict.fromkeys(("killed", "same", "equivalent", "survived"), 0)
    unexpected = []
    for mutant in mutants(*wanted):
        if mutant.op in UNREADABLE:
            continue
        places(mutant.op)  # worked out once, before the forks
        with np.errstate(all="ignore"):
            verdict = forked(lambda mutant=mutant: noticed(mutant))  # type: ignore[misc]  # a default binds it now
        what = mutant[:3]
        if what in EQUIVALENT:
            if verdict == "killed":
                unexpected.append(f"{' '.join(what)}: noticed, and listed as equivalent")
            verdict = "equivalent" if verdict == "survived" else verdict
        elif verdict == "survived":
            unexpected.append(" ".join(what))
        counts[verdict] += 1
    print(*(f"{count} {verdict}" for verdict, count in counts.items()), f"{time.monotonic() - start:.0f} s", sep=", ")
    print(*unexpected, sep="\n")
    return len(unexpected)


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))
