"""Words, numbers and arithmetic in LaTeX, with all special signs escaped."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from attncalc.common.errors import visible
from attncalc.record.trace import surds

ACTIVE = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": "{`}",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
}
SIGNS = {
    "−": "-",
    "·": r"\cdot",
    "×": r"\times",
    "±": r"\pm",
    "⊙": r"\odot",
    "⊗": r"\otimes",
    "≤": r"\le",
    "≥": r"\ge",
    "≠": r"\ne",
    "≈": r"\approx",
    "←": r"\leftarrow",
    "→": r"\rightarrow",
    "∂": r"\partial",
    "∇": r"\nabla",
    "Σ": r"\sum",
    "√": r"\surd",
    "∞": r"\infty",
    "‖": r"\Vert",
    "°": r"{{}^\circ}",
    "′": r"{{}^\prime}",
    "½": r"\frac{1}{2}",
    "…": r"\ldots",
}
MARKS = {"√": r"\sqrt", "^": "^", "_": "_"}
FUNCTIONS = frozenset({"ln", "log", "exp", "max", "min", "sin", "cos", "tanh", "arccos"})
HARMLESS = frozenset(" +-*/=()[],.:;!|<>'")

SPECIAL = re.compile("--+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ]+|[₀₁₂₃₄₅₆₇₈₉]+|[^A-Za-z0-9 ]")
FORMULA = re.compile(r"(√?\b[A-Za-zα-ω]_[A-Za-z0-9]\b|\be\^[−-]?(?:∞|\w+))")
PIECE = re.compile(
    r" \([a-z][a-z ]+\)\Z| ?[A-Za-z]{2,}(?: [A-Za-z]+)* ?|\d[\d.]*(?:e[+-]\d+)?|[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ]+|[₀₁₂₃₄₅₆₇₈₉]+|.",
    re.DOTALL,
)
SUBSCRIPTS = tuple("₀₁₂₃₄₅₆₇₈₉")
NEIGHBOURS = re.compile(r"(?<=[a-z])\$\$(?=[_^])")  # between a letter and its sub- or superscript
OPERAND = re.compile(r"[−-]?(?:\d[\d.]*(?:e[+-]\d+)?|\w+|∞)?")
NEEDLESS = re.compile(r"(\\[A-Za-z]+) (?![A-Za-z])")  # a blank after a command, if no letter follows
SCIENTIFIC = re.compile(r"([\d.]+)e([+-])0*(\d+)")

ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
LETTERS = frozenset("ÆØŒŁßæøœłı")


def text(words: str) -> str:
    """Any text, escaped; mathematical signs in it are set as mathematics."""
    return NEIGHBOURS.sub("", SPECIAL.sub(lambda found: _special(found[0]), visible(words)))


def sentence(words: str) -> str:
    r"""Text of ours, in which `d_k` and `e^x` are set as formulas too."""
    parts = FORMULA.split(visible(words))
    return "".join(f"${arithmetic(part)}$" if FORMULA.fullmatch(part) else text(part) for part in parts)


def _special(run: str) -> str:
    if run.startswith("--"):
        return "{}".join(run)
    return ACTIVE.get(run) or (f"${sign}$" if (sign := _sign(run)) else run)


def _sign(run: str) -> str:
    """A mathematical sign, Greek letter, subscript or superscript in LaTeX; "" for anything else."""
    if run in SIGNS:
        return SIGNS[run]
    spelled = unicodedata.normalize("NFKC", run).replace("\u2212", "-").replace("T", r"\top")
    if run[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ":
        return f"^{{{spelled}}}"
    if run[0] in "₀₁₂₃₄₅₆₇₈₉":
        return f"_{{{spelled}}}"
    if run in "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΦΨΩ":
        name = unicodedata.name(run).rpartition(" ")[2].replace("LAMDA", "LAMBDA")
        return "\\" + (name.capitalize() if run.isupper() else name.lower())
    return ""


def arithmetic(line: str) -> str:
    r"""A line of numbers and signs: `√(0.8² + 0.2²) / 2` → `\frac{\sqrt{0.8^{2} + 0.2^{2}}}{2}`."""
    return NEEDLESS.sub(r"\1", _with_fractions(line)).strip()


def behind(words: str) -> str:
    """The words in brackets after a value: the places that it was taken from, or the comparison that decided."""
    return rf"\text{{({text(words)})}}" if words.startswith("from ") else arithmetic(f"({words})")


OVER = " / "
OPENING = {"(": 1, "[": 1, ")": -1, "]": -1}
CLOSING = {")": 1, "]": 1, "(": -1, "[": -1}
NOT_BARE = "√^_|"  # signs before a bracket that belongs to them; fractions inside are found with it


def _with_fractions(line: str) -> str:
    """The line with `a / b` as fractions, wherever numerator and denominator are complete."""
    found: list[tuple[int, int, int]] = []
    at = line.find(OVER)
    while at >= 0:
        start, end = _before(line, at), _behind(line, at + len(OVER))
        if start is not None and end is not None:
            found = [*(span for span in found if span[2] <= start), (start, at, end)]  # others lie in the numerator
            at = end - 1
        at = line.find(OVER, at + 1)
    written, done = "", 0
    for start, at, end in found:
        above, below = (_with_fractions(_bare(part)) for part in (line[start:at], line[at + len(OVER) : end]))
        written += rf"{_converted(line[done:start])}\frac{{{above}}}{{{below}}}"
        done = end
    return written + _converted(line[done:])


def _before(line: str, at: int) -> int | None:
    """Where the numerator begins; None if the line was broken inside it, or it belongs to a root or a power."""
    depth, start = 0, 0
    for i in range(at - 1, -1, -1):
        depth += CLOSING.get(line[i], 0)
        if depth < 0 or (not depth and line[i] in " ,"):
            start = i + 1
            break
    if depth > 0 or start == at or line.endswith(OVER, 0, start) or "|" in line[:at]:
        return None
    depth = 0
    for i in range(start - 1, -1, -1):
        depth += CLOSING.get(line[i], 0)
        if depth < 0:
            if (head := re.sub(r"[^\W\d_]+$", "", line[:i])) and head[-1] in NOT_BARE:  # √(…), or √max(…)
                return None
            depth = 0
    return None if depth > 0 else start


def _behind(line: str, first: int) -> int | None:
    """Where the denominator ends; None if the line was broken inside it, or another division follows."""
    depth = 0
    for i in range(first, len(line)):
        if not depth and line[i] in " ,)]×·":
            return None if line.startswith(OVER, i) or i == first else i
        depth += OPENING.get(line[i], 0)
    return None if depth or first >= len(line) or "|" in line[first:] else len(line)


def _bare(part: str) -> str:
    """A part without the brackets around all of it."""
    return part[1:-1] if part.startswith("(") and _end(part) == len(part) - 1 else part


def _converted(line: str) -> str:
    result, rest, script = "", line, False
    while found := PIECE.match(rest):
        piece, rest = found[0], rest[found.end() :]
        if piece in MARKS:
            inside, rest = _operand(rest)
            latex = f"{MARKS[piece]}{{{_with_fractions(inside)}}}"
        elif piece.startswith(" ") and rest.startswith(("(", "_", *SUBSCRIPTS)) and piece.strip().isalpha():
            latex = f" {_piece(piece.strip())}"  # names need no extra space after a sign
        elif SCIENTIFIC.fullmatch(piece) and (rest.startswith(("²", "^", "!")) or result.endswith("/ ")):
            latex = f"({_piece(piece)})"
        else:
            latex = _piece(piece)
        result += "{}" + latex if script and latex.startswith(("^", "_")) else latex  # TeX refuses a^b^c
        script = latex.startswith(("^", "_"))
    return result


def _operand(rest: str) -> tuple[str, str]:
    """The operand of a root, a power or an index, without brackets around it, and the rest of the text."""
    if rest.startswith("("):
        end = _end(rest)
        return rest[1:end], rest[end + 1 :]
    end = OPERAND.match(rest).end()  # type: ignore[union-attr]  # it also matches empty text
    if (rest.startswith("|") and not end) or (
        rest.startswith("(", end) and rest[end - 1].isalpha()
    ):  # √|x|, e^max(1, 2)
        end += _end(rest[end:]) + 1
    return rest[:end], rest[end:]


def _end(bracketed: str) -> int:
    """Where the bracket or bar at the beginning of a text is closed; the text's end, if it is not."""
    depth, opens = 0, True
    for i, character in enumerate(bracketed):
        if character == "|":  # it closes after a number, a letter or a bracket
            depth += 1 if opens else -1
        else:
            depth += {"(": 1, ")": -1}.get(character, 0)
            opens = character in " (√^×·/−-,"
        if not depth:
            return i
    return len(bracketed)


def _piece(piece: str) -> str:
    if found := SCIENTIFIC.fullmatch(piece):
        return rf"{found[1]} \times 10^{{{found[2].strip('+')}{found[3]}}}"
    if piece.strip() in FUNCTIONS:
        return f"\\{piece.strip()} "
    if len(piece) > 1 and piece.strip(" ()").replace(" ", "").isalpha():
        return rf"\text{{{piece}}}"
    if sign := _sign(piece):
        return f"{sign} " if sign.startswith("\\") else sign
    harmless = piece in HARMLESS or (piece.isascii() and piece[0].isalnum())
    return piece if harmless else rf"\text{{{text(piece)}}}"


def axis(name: str) -> str:
    r"""An axis' name: `d_k` → `d_{k}`, `d_model` → `d_{\text{model}}`, `(h d_k)` → `(h\,d_{k})`."""
    return re.sub("(_?)([A-Za-z0-9]+)", _axis_word, name).replace(" ", r"\,")


def _axis_word(found: re.Match[str]) -> str:
    below, word = found[1], found[2] if len(found[2]) == 1 else rf"\text{{{found[2]}}}"
    return f"_{{{word}}}" if below else word


def exact(entry: Any) -> str:
    """A fraction, a surd or a formula of letters."""
    if not hasattr(entry, "free_symbols"):  # a Python number
        return str(entry)
    letters = sorted(entry.free_symbols, key=str)
    return str(surds().latex(entry, tuple((letter, _letter(letter.name)) for letter in letters)))


def _letter(name: str) -> str:
    """A letter that stands for an entry, `q_12`, `wq_1,2`, with its indices as subscripts; words are upright."""
    found = re.fullmatch(r"(.+?)(?:_([\d_,]+))?", name, re.ASCII)
    head, tail = (found[1], found[2]) if found else (name, None)
    if not (head.isascii() and head.isalpha() and len(head) == 1):
        head = rf"\text{{{text(head.replace('_', ' '))}}}"
    return f"{head}_{{{tail.replace('_', ',')}}}" if tail else head


def has_a_glyph(character: str) -> bool:
    """Whether the default fonts of all TeX engines have the character: ASCII, and letters with common accents."""
    parts = unicodedata.normalize("NFD", character)
    composed = len(parts) == 2 and parts[0].isascii() and parts[1] in ACCENTS
    return character.isascii() or character in LETTERS or composed
