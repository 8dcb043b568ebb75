"""What the page carries compressed: JSON that the browser opens on demand; careful that no text in it can be more than text.

Each blob is gzip in base64 inside a data block that no browser runs. Control characters, which a terminal would obey and a reader would not see, become
their symbols; lone surrogates, which no file can hold, and marks that turn the direction of writing become the replacement character.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
import zlib
from typing import Any

LOG_SHOWN = 2_000  # characters of a log's end on the page; the record keeps what there is
TEXT_SHOWN = 4_000  # of any other text, its beginning: a record's own limits are below, and a broken one must not fill the page
# In JSON as Python writes it every such character is an escape: one search tells that a record has none, nor a long text.
SUSPECT = re.compile(r"\\u00(?:0|1|7f|8|9)|\\[bfr]|\\u20(?:2[a-e]|6[6-9])|\\ud[89a-f]|\bInfinity\b|\bNaN\b", re.IGNORECASE)
SYMBOLS = {c: 0x2400 + c for c in range(32) if chr(c) not in "\n\t"} | {0x7F: 0x2421}
REPLACED = dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)], 0xFFFD)
VISIBLE = SYMBOLS | REPLACED


def blob(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def opened(text: str) -> Any:
    """The value that ``blob`` packed.

    Raises:
        ValueError: it is damaged.
    """
    try:
        return json.loads(gzip.decompress(base64.b64decode(text)))
    except (OSError, EOFError, zlib.error) as broken:
        raise ValueError(f"a damaged blob: {broken}") from None


def blobs(html: str) -> dict[str, str]:
    """What a page carries, each still packed, by its name."""
    return dict(re.findall(r' id="blob-([^"]*)">([^<]*)<', html))


def tidy(value: Any) -> Any:
    """The same value with every text in it visible and of bounded length; a value without anything to change is returned as it is."""
    text = json.dumps(value, default=str)
    if len(text) <= LOG_SHOWN and not SUSPECT.search(text):
        return value
    return _tidy(value)


def _tidy(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {_tidy(k): _tidy(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_tidy(v, key) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # as records write it: JSON has no infinity
    if not isinstance(value, str):
        return value
    cut = max(0, len(value) - (LOG_SHOWN if key == "log" else TEXT_SHOWN))
    if cut and key == "log":
        value = f"[{cut} characters before this are in the record]\n{value[-LOG_SHOWN:]}"
    elif cut:
        value = f"{value[:TEXT_SHOWN]} [{cut} more characters are in the record]"
    return value.translate(VISIBLE)
