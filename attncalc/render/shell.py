"""The frame of every HTML file: nothing fetched, one style, one script at most, and nobody's text but as text."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape

from attncalc.render.dress import PAGE_STYLE, STYLE
from attncalc.text import visible


def shell(title: str, body: str, script: str = "", *, unicode: bool = True) -> str:
    """A file that needs nothing else; its policy lets pass its own style and script, and no other."""
    style = STYLE + PAGE_STYLE
    allowed = [f"style-src {_hash(style)}", *([f"script-src {_hash(script)}"] if script else [])]
    policy = "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])
    run = f"<script>{script}</script>\n" if script else ""
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<main class="attncalc">\n{body}</main>\n{run}</body>\n</html>\n'
    )
    return page if unicode else page.encode("ascii", "xmlcharrefreplace").decode()


def _hash(text: str) -> str:
    """How a content security policy names the one text that it lets pass."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def text(words: str) -> str:
    """Anybody's text, which does nothing but stand there."""
    return escape(visible(words), quote=True)


def element(name: str, inside: str, of: str = "", **attributes: str) -> str:
    """`element("td", "1", "gap")` → `<td class="gap">1</td>`."""
    if of:
        attributes = {"class": of} | attributes
    said = "".join(f' {key.replace("_", "-")}="{text(value)}"' for key, value in attributes.items())
    return f"<{name}{said}>{inside}</{name}>"
