"""The badge: JSON that shields.io's endpoint draws; careful never to be calm where nothing could be asked."""

from __future__ import annotations

import json

from harness.export import clean
from harness.export.gather import Selection
from harness.verdict import EXECUTED, STATUSES

# Blue and vermilion, as on the page: no pair of red and green.
OK, WRONG, OTHER, NOTHING = "0072b2", "d55e00", "e69f00", "6e7681"


def write(selection: Selection) -> str:
    """How many questions are silent, of those that were asked; the worst other word where none is."""
    words = [word for word, _ in selection.squares]
    asked = sum(word in EXECUTED for word in words)
    silent, worst = words.count("silent"), next((s for s in STATUSES if s in words and s in ("crash", "hang", "unstable", "slow")), "")
    said, color = f"0 silent of {asked}", OK
    if not asked:
        said, color = "not asked", NOTHING
    elif silent:
        said, color = f"{silent} silent of {asked}", WRONG
    elif worst:
        said, color = f"{words.count(worst)} {worst} of {asked}", OTHER
    ours = any(r["cause"] == "harness" for r in selection.records)
    columns = list(dict.fromkeys(str(r["column"]) for r in selection.records))
    label = columns[0] if len(columns) == 1 else "silentbench"
    badge = {"schemaVersion": 1, "label": clean.line(label, 60), "message": said, "color": color, "cacheSeconds": 3600}
    return json.dumps({**badge, **({"isError": True} if ours or not asked else {})}, indent=1) + "\n"
