"""Text of frameworks, made safe for every format; careful that nothing a program printed can end a line, a field, a tag or a terminal's colour."""

from __future__ import annotations

import math
from typing import Any

from harness.report.packed import VISIBLE

# As on the page: a control character becomes its picture, and what turns the direction of text or is half of a character the replacement character. XML
# cannot hold these two either.
UNFIT = dict.fromkeys((0xFFFE, 0xFFFF), 0xFFFD)
SEPARATORS = {0x2028: 0x0A, 0x2029: 0x0A}  # some readers end a line there
TABLE = VISIBLE | UNFIT | SEPARATORS


def text(value: object) -> str:
    """Any value as text that UTF-8 and XML 1.0 can hold; lines end in a line feed."""
    found = str(value)
    if found.isascii() and found.isprintable():
        return found
    return found.replace("\r\n", "\n").replace("\r", "\n").translate(TABLE)


def line(value: object, limit: int = 400) -> str:
    """The same in one line, cut with a note of how much was left out. ``limit`` in characters."""
    return short(" ".join(text(value).split()), limit)


def short(found: str, limit: int) -> str:
    """The beginning of a text, with a note of how much was left out. ``limit`` in characters."""
    return found if len(found) <= limit else f"{found[:limit]} [{len(found) - limit} more characters]"


def tail(found: object, limit: int) -> str:
    """The end of a log, which says how it ended. ``limit`` in characters."""
    kept = str(found)
    return text(kept if len(kept) <= limit else f"[{len(kept) - limit} characters before] {kept[-limit:]}")


def tree(value: Any) -> Any:
    """JSON that a strict reader takes: clean text, and numbers that are not finite as words, as in the records."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return {text(k): tree(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [tree(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
