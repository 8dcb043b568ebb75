"""A training run of two numbers, standard library only, for exact_resume by command; `--defect` names what is wrong with its resume."""

import json
import random
import struct
import sys
from pathlib import Path

given = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
steps, save = int(given["--steps"]), Path(given["--save"])
stop, defect = int(given.get("--stop", steps)), given.get("--defect", "")
w, v, at = [1.0, 2.0], [0.0, 0.0], 0
if defect == "noise":
    w[0] += random.random()
if "--resume" in given and defect != "starts again":
    saved = Path(given["--resume"])
    content = (saved / "model.safetensors").read_bytes()
    numbers = struct.unpack("<4d", content[8 + int.from_bytes(content[:8], "little") :])
    w, at = list(numbers[:2]), int((saved / "step").read_text())
    if defect != "no momentum":
        v = list(numbers[2:])
    if defect == "verified" and sum(content) + at != int((saved / "sum").read_text()):
        sys.exit("damaged")
with Path(given["--log"]).open("a") as log:
    while at < stop:
        v = [0.9 * b + a for a, b in zip(w, v, strict=True)]
        w = [a - 0.1 * (1 - at / steps) * b for a, b in zip(w, v, strict=True)]
        bits = struct.pack(">d", sum(a * a for a in w)).hex()
        log.write(json.dumps({"step": at, "loss_bits": bits}) + "\n")
        at += 1
header = json.dumps({name: {"dtype": "F64", "shape": [2], "data_offsets": [16 * i, 16 * i + 16]} for i, name in enumerate("wv")}).encode()
content = len(header).to_bytes(8, "little") + header + struct.pack("<4d", *w, *v)
(save / "model.safetensors").write_bytes(content)
(save / "step").write_text(str(at))
(save / "sum").write_text(str(sum(content) + at))
