"""Words on their way to a reader: other people's text made harmless, near names, lists in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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


def near(word: object, known: Iterable[str], prefix: str = "", *, said: Mapping[str, str] | None = None) -> str:
    """`did you mean causal or scale?`: the names nearest to a word that was missed, or "" if there is none near.

    From Python the word may be a number. `said` holds what is said in place of a name: a.json for its stem, a.
    """
    import difflib  # here, where a name was not found, and not at start-up

    spelled = {name.casefold(): (said or {}).get(name, name) for name in known}
    found = difflib.get_close_matches(str(word).casefold(), spelled, n=3, cutoff=0.6)
    return f"did you mean {either(visible(prefix + spelled[name], 200) for name in found)}?" if found else ""


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
    """`1 sheet`, `2 sheets`, `1,000 entries`: a count, or one that is written already, before its noun."""
    said = number if isinstance(number, str) else f"{number:,}"
    return f"{said} {noun if said == '1' else plural or noun + 's'}"


def flag(name: str) -> str:
    """How an option is spelled on the command line: `causal_align` → `--causal-align`."""
    return "--" + name.replace("_", "-")


def shape_text(shape: Iterable[int]) -> str:
    """`2 × 3`; a shape without axes is `a single number`."""
    return " × ".join(map(str, shape)) or "a single number"


def reason(error: OSError) -> str:
    """The system's words for a failure, as a part of a sentence: `no space left on device`."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def with_facts(words: str, *facts: str) -> str:
    """The words, and in brackets those of the facts that there are: `how many heads (8; at least 1)`."""
    known = "; ".join(filter(None, facts))
    return f"{words} ({known})".strip() if known else words.strip()
