"""The errors, by whose fault they are, and helpers for the words of messages.

    AttncalcError (a ValueError)      one clear line, and a hint if a fix is likely
    ├── InputError                    your file or your words: what could not be read, and where
    ├── ShapeError                    your numbers: sizes or axes that do not fit together
    ├── DomainError                   your numbers: a value for which the calculation has no answer
    ├── OptionError                   your call: options that clash, or that do not exist
    ├── ExpressionError               your formula: what is wrong with it, and at which character
    ├── NoGradient                    a result that jumps, so that it has no gradient
    ├── NotExact                      a limit of ours: no closed form, and the way round it
    ├── TooLarge                      a limit of the machine's: what does not fit in memory, and the way round it
    └── NoPicture                     a result that cannot be drawn

The inner layer raises the fact; the outer one adds the file, the operand or the step with `within`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, Self

OF_LABELS = 'rows have their labels in a file: {"q": [[1, 2]], "labels": ["cat"]}'
OF_LABELS_IN_PYTHON = 'rows have their labels as the keys of a dictionary: {"cat": [1, 2]}'
"""Hints for a user who gives labels as a separate list, beside the arrays."""


class AttncalcError(ValueError):
    """A fault that the caller can mend: `str(error)` is one line, `error.hint` the likely mend."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def hint(self) -> str:
        """The likely mend, "" where there is none; a traceback has it below the message."""
        return self._hint

    @hint.setter
    def hint(self, hint: str) -> None:
        self._hint = hint
        others = [note for note in getattr(self, "__notes__", ()) if not note.startswith("hint: ")]
        self.__notes__ = [f"hint: {hint}", *others] if hint else others

    def within(self, place: str) -> Self:
        """The same error with the place in front: `q.json: row 2 has 3 entries`."""
        return type(self)(f"{place}: {self.message}", hint=self.hint)


class InputError(AttncalcError):
    """A file, a literal or a name that could not be read as an operand."""


class ShapeError(AttncalcError):
    """Sizes or axis names that do not fit together."""


class DomainError(AttncalcError):
    """Values for which the calculation has no answer: a zero vector, a row that is all −∞."""


class OptionError(AttncalcError):
    """Options that clash with each other, with the operands, or with the calculation."""


class ExpressionError(AttncalcError):
    """A typed formula that is outside the language, with the character where it leaves it."""


class NoGradient(AttncalcError):
    """A result that is chosen rather than computed (a ranking), so that it has no gradient."""


class NotExact(AttncalcError):
    """An exact or symbolic form that does not exist or is too large, with the way round it."""


EXACT_DIGITS = 1000
"""Exact numbers with more digits are refused: they take long, and nobody reads them."""
WITHOUT_EXACT = "without --exact any size will do"
"""The hint for most limits of exact numbers."""


class TooLarge(AttncalcError):
    """A run that would take more memory than there is; refused before it starts."""


class NoPicture(AttncalcError):
    """A result that cannot be drawn: a single number, letters, complex numbers."""


# Text for messages: escaping other people's text, suggestions for misspelt names, lists in a sentence.


NARROWEST = 40
"""No page is narrower, whatever the terminal says."""


def visible(text: str, limit: int | None = None) -> str:
    """The text with every character shown that would act rather than print: controls, escapes, bidirectional marks.

    A newline becomes `\\n`, an escape `\\x1b`, a right-to-left override `\\u202e`, so that the text stays on its
    line and sends nothing to a terminal. With a limit, text of more characters than that is cut and ends in `…`.
    """
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"  # before escaping, so that no escape is cut in two
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def quoted(text: str) -> str:
    """User text as an error says it: made visible, cut to some eighty characters, in double quotes."""
    return f'"{visible(text, 80)}"'


def example_of(name: str) -> str:
    """The hint for a calculation that was called without operands."""
    return f"attncalc explain {name} says what it takes, with an example"


_SHEETS = ("excel", "ods", "spreadsheet", "xls", "xlsx")
_PAPERS = ("doc", "docx", "odt", "pdf", "rtf", "word")
ELSEWHERE = {
    "fp64": ("float64",),
    "double": ("float64",),
    "fp32": ("float32",),
    "single": ("float32",),
    "fp16": ("float16",),
    "half": ("float16",),
    "bf16": ("bfloat16",),
    "fp8": ("float8_e4m3fn", "float8_e5m2"),
    "e4m3": ("float8_e4m3fn",),
    "e5m2": ("float8_e5m2",),
    "fp4": ("mxfp4",),
    "md": ("markdown",),
    "tex": ("latex",),
    "xml": ("junit",),
    **dict.fromkeys(("txt", "text"), ("table",)),
    **dict.fromkeys((*_SHEETS, "tsv", "parquet"), ("csv",)),
    **dict.fromkeys(_PAPERS, ("html",)),
    **dict.fromkeys(("jpg", "jpeg", "gif", "bmp", "webp"), ("png",)),
    **dict.fromkeys(("eps",), ("svg",)),
    **dict.fromkeys(("yaml", "yml", "jsonl", "ipynb"), ("json",)),
    **dict.fromkeys(("torch", "pt", "pth", "gguf"), ("safetensors",)),
    **dict.fromkeys(("numpy", "mat", "h5", "hdf5", "pickle", "pkl"), ("npz",)),
    **dict.fromkeys(("about", "define", "derive", "describe", "how", "info", "man", "what", "why"), ("explain",)),
    **dict.fromkeys(("autograd", "backprop", "backpropagation", "backward", "differentiate"), ("grad",)),
    **dict.fromkeys(("correct", "verify"), ("check",)),
    **dict.fromkeys(("diff",), ("compare",)),
    **dict.fromkeys(("autograde", "mark", "marks", "score"), ("grade",)),
    **dict.fromkeys(("exam", "exercise", "exercises", "homework", "worksheet"), ("quiz",)),
    **dict.fromkeys(("drill", "learn", "train", "tutor"), ("practice",)),
    **dict.fromkeys(("errors", "misconceptions", "pitfalls"), ("mistakes",)),
    **dict.fromkeys(("demo", "example", "examples"), ("sample",)),
    **dict.fromkeys(("all", "calculations", "commands", "ls"), ("list",)),
    **dict.fromkeys(("answer", "solution"), ("check",)),
    **dict.fromkeys(("bfloat16", "float16", "float32", "float64"), ("dtype",)),
    **dict.fromkeys(("class", "count", "students", "variants", "versions"), ("roster",)),
    **dict.fromkeys(("config", "summary"), ("info",)),
    **dict.fromkeys(("lang", "language", "locale"), ("texts",)),
    **dict.fromkeys(("decimals", "places"), ("digits",)),
    **dict.fromkeys(("difficulty", "easy", "hard"), ("level",)),
    **dict.fromkeys(("deadline", "due", "extension", "late"), ("override",)),
    **dict.fromkeys(("deduction", "penalty", "rubric"), ("policy",)),
    **dict.fromkeys(("layer", "layers", "step", "steps"), ("show",)),
    **dict.fromkeys(("max-new-tokens", "max-tokens"), ("generate",)),
    **dict.fromkeys(("n-heads", "nhead", "num-heads"), ("heads",)),
    "precision": ("digits", "dtype"),
    "verbose": ("all",),
    **dict.fromkeys(("distance", "dist", "l2"), ("euclidean", "norm", "pairwise")),
    **dict.fromkeys(("cityblock", "l1", "taxicab"), ("manhattan", "norm")),
    **dict.fromkeys(("linf", "max-norm"), ("chebyshev", "norm")),
    **dict.fromkeys(("angle", "cos-sim", "similarity"), ("cosine", "pairwise")),
    **dict.fromkeys(("length", "magnitude"), ("norm",)),
    **dict.fromkeys(("diagonalize", "eigenvalues", "eigenvectors", "pca"), ("eigen", "svd")),
    **dict.fromkeys(("causal", "mask", "masking"), ("attention",)),
    **dict.fromkeys(("gqa", "mqa", "grouped-query-attention", "multi-query-attention"), ("multihead",)),
    **dict.fromkeys(("argmax", "greedy", "min-p", "nucleus", "top-k", "top-p"), ("sampling",)),
    **dict.fromkeys(("bce", "log-loss"), ("cross-entropy",)),
    **dict.fromkeys(("mse", "ols", "regression"), ("linear-regression",)),
    **dict.fromkeys(("network", "neural-network", "nn", "perceptron"), ("mlp",)),
    **dict.fromkeys(("lm-head", "logits"), ("unembed",)),
    **dict.fromkeys(("tokenise", "tokeniser", "tokenize", "tokenizer"), ("bpe",)),
    **dict.fromkeys(("pos-enc", "position", "positions"), ("sinusoidal", "rope", "alibi")),
    **dict.fromkeys(("learning-rate", "lr", "scheduler"), ("lr", "schedule")),
    **dict.fromkeys(("flops", "params", "parameters"), ("complexity",)),
    **dict.fromkeys(("adapter", "low-rank"), ("lora",)),
    **dict.fromkeys(("gpt", "llama"), ("decoder-only", "model")),
    "bert": ("encoder-block", "model"),
    "gradient-descent": ("descend", "optimizer"),
    "jac": ("jacobian",),
    "vit": ("patch-embed",),
}
"""Names, types, formats, verbs and options as other tools call them, where the nearest spelling would mislead."""
WHICH = {
    **dict.fromkeys(_SHEETS, "which spreadsheets open"),
    **dict.fromkeys(_PAPERS, "which browsers print and word processors open"),
}
"""Why the suggested format serves as well."""
SHORTEST = 4
"""A prefix of at least this many characters is taken to mean the names that begin with it: `--temp`."""


def letters(name: str) -> str:
    """A name without hyphens and underscores: `cross-entropy`, `cross_entropy` and `crossentropy` are the same."""
    return name.replace("-", "").replace("_", "")


def elsewhere(word: str) -> Sequence[str]:
    """Our names for what other tools call by this word."""
    given = letters(word.casefold())
    return next((names for called, names in ELSEWHERE.items() if letters(called) == given), ())


def near(word: object, known: Iterable[str], prefix: str = "", *, said: Mapping[str, str] | None = None) -> str:
    """`did you mean causal or scale?`: the known names nearest to an unknown word, or "" if none is near.

    From Python the word may be a number. `said` maps a name to the text shown for it: a to a.json.
    """
    import difflib  # a door: needed only if a name was not found

    spelled, given = {name.casefold(): (said or {}).get(name, name) for name in known}, str(word).casefold()
    same = [name for name in spelled if letters(name) == letters(given)]
    called = [name for name in elsewhere(given) if name in spelled]
    begun = sorted((name for name in spelled if len(given) >= SHORTEST and name.startswith(given)), key=len)
    found = same or called or begun[:3] or difflib.get_close_matches(given, spelled, n=3, cutoff=0.6)
    which = f", {WHICH[given]}" if called and given in WHICH else ""
    return f"did you mean {either(visible(prefix + spelled[name], 200) for name in found)}{which}?" if found else ""


def both(words: Iterable[str], most: int | None = None) -> str:
    """`q, k and v`; of more words than `most` the first ones: `q, k, …`."""
    known = list(words)
    return _joined(known, "and") if most is None or len(known) <= most else listed(known, most)


def either(words: Iterable[str]) -> str:
    """`q, k or v`."""
    return _joined(words, "or")


def _joined(words: Iterable[str], last: str) -> str:
    *first, final = words
    return f"{', '.join(first)} {last} {final}" if first else final


def listed(words: Iterable[str], most: int) -> str:
    """`q, k, v`; of more words than `most` the first ones: `q, k, …`."""
    known = list(words)
    return ", ".join(known if len(known) <= most else [*known[:most], "…"])


def amount(number: int | str, noun: str, plural: str = "") -> str:
    """`1 sheet`, `2 sheets`, `1,000 entries`: a count with its noun; a count given as text stays as it is."""
    said = number if isinstance(number, str) else f"{number:,}"
    return f"{said} {noun if said == '1' else plural or noun + 's'}"


def are(things: Sized) -> str:
    """`is` of one thing, `are` of several."""
    return "is" if len(things) == 1 else "are"


def flag(name: str) -> str:
    """How an option is spelled on the command line: `causal_align` → `--causal-align`."""
    return "--" + name.replace("_", "-")


def shape_text(shape: Iterable[int]) -> str:
    """`2 × 3`; a shape without axes is `a single number`."""
    return " × ".join(map(str, shape)) or "a single number"


def place_text(at: Iterable[Any]) -> str:
    """`[1,0]`, counted from 0; "" for a single number, which has no place."""
    place = ",".join(map(str, at))
    return place and f"[{place}]"


def reason(error: OSError) -> str:
    """The system's words for a failure, as a part of a sentence: `no space left on device`."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def with_facts(words: str, *facts: str) -> str:
    """The words, followed by the non-empty facts in brackets: `how many heads (8; at least 1)`."""
    known = "; ".join(filter(None, facts))
    return f"{words} ({known})".strip() if known else words.strip()
