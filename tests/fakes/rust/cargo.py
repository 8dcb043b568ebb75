"""Stands in for cargo and rustc: an item with BROKEN in it does not compile, and what does is a shell script that lists its cells."""

import json
import os
import re
import sys
from pathlib import Path

tool = Path(sys.argv[0]).name
if sys.argv[1] == "--version":
    print(f"{tool} 1.0.0 (fake)")
    sys.exit()
with Path("calls").open("a") as calls:  # in the crate's folder
    print(" ".join(sys.argv[1:]), file=calls)
main, name = Path("src/main.rs").read_text(), re.search(r'\[\[bin\]\]\nname = "(.*)"', Path("Cargo.toml").read_text())[1]
if "NO LINKER" in main:
    sys.exit("error: linker `cc` not found")
failed = False
for path in re.findall(r'^#\[path = "(.*)"\] mod case', main, re.MULTILINE):
    text = Path(path).read_text()
    if found := re.search(r"(.*)BROKEN", text):
        place = {"file_name": path, "line_start": text[: found.start()].count("\n") + 1, "byte_start": found.end() - 6, "is_primary": True}
        span = {**place, "label": None, "expansion": None, "text": [{"text": found[0], "highlight_start": len(found[1]) + 1}]}
        words = {"level": "error", "code": {"code": "E0425"}, "message": "cannot find `BROKEN`", "rendered": f"error: BROKEN --> {path}"}
        message = {**words, "spans": [] if "NOWHERE" in text else [span], "children": []}
        print(json.dumps({"reason": "compiler-message", "target": {"name": name}, "message": message}))
        failed = True
if failed:
    sys.exit("error: could not compile")
value = {key: re.search(rf'{key}: "(.*)"', main)[1] for key in ("column", "sources")}
crates = dict(re.findall(r'\("(\S+)", "(\S+)"\)', re.search(r"crates: (.*)", main)[1]))
cells = re.findall(r'^    \("(.*)", run!', main, re.MULTILINE)
if "STALE" in main:
    cells = []
binary = Path(os.environ["CARGO_TARGET_DIR"]) / "release" / name
binary.parent.mkdir(parents=True, exist_ok=True)
binary.write_text(f"#!/bin/sh\necho '{json.dumps({**value, 'crates': crates, 'cells': cells})}'\n")
binary.chmod(0o755)
