"""The words of a checkpoint's tokens, and the tokens of a text, by the tokenizer.json beside its weights."""

from __future__ import annotations

from pathlib import Path

from attncalc.common.errors import InputError, OptionError, visible
from attncalc.common.system import exists, shown
from attncalc.inputs.resolve import read_json

TOKENIZER = "tokenizer.json"
CONFIG = "config.json"
MOST_WORDS = 2**26  # bytes of that file


def words_of(path: str, size: int) -> tuple[str, ...]:
    """The vocabulary of a checkpoint, a word for each id; () if it has none, or one of another size."""
    at = str(Path(path, TOKENIZER))
    if not exists(at):
        return ()
    tree = read_json(at, MOST_WORDS)
    model = tree.get("model") if isinstance(tree, dict) else None
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(vocabulary, list):  # pieces with their scores, in the order of their ids
        known = {i: piece[0] for i, piece in enumerate(vocabulary) if isinstance(piece, list) and piece}
    elif isinstance(vocabulary, dict):
        known = {i: word for word, i in vocabulary.items() if type(i) is int}
    else:
        return ()
    added = tree.get("added_tokens")
    for each in added if isinstance(added, list) else []:
        if isinstance(each, dict) and type(each.get("id")) is int:
            known[each["id"]] = each.get("content")
    words = [known.get(i, f"<{i}>") for i in range(size)]
    return tuple(words) if all(isinstance(word, str) for word in words) and known.keys() <= set(range(size)) else ()


def classes_of(path: str, size: int) -> tuple[str, ...]:
    """The names of a checkpoint's classes; () if they only have numbers."""
    tree = read_json(str(Path(path, CONFIG)), MOST_WORDS)
    named = tree.get("id2label") if isinstance(tree, dict) else None
    words = [named.get(str(i)) for i in range(size)] if isinstance(named, dict) else []
    told = all(isinstance(word, str) for word in words) and words != [f"LABEL_{i}" for i in range(size)]
    return tuple(map(str, words)) if told else ()


def encoded(path: str, text: str) -> str:
    """The ids of a text, by the tokenizer that lies beside the weights."""
    at = str(Path(path, TOKENIZER))
    if not exists(at):
        raise InputError(f"{shown(path)} has no {TOKENIZER}", hint="give the tokens as ids: 15496,995")
    try:
        from tokenizers import Tokenizer  # an extra, which few need
    except ImportError:
        mend = "pip install 'attncalc[text]', or give the tokens as ids"
        raise OptionError("--text needs the package tokenizers", hint=mend) from None
    try:
        ids = Tokenizer.from_file(at).encode(text).ids
    except Exception as error:  # noqa: BLE001  (whatever a foreign library raises is told as what could not be read)
        raise InputError(f"{shown(at)}: {visible(str(error), 120)}") from None
    if not ids:
        raise InputError("--text is no token at all")
    return ",".join(map(str, ids))
