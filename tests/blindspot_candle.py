"""The same in real candle: docs/rust/candle trained with the fused RMSNorm, and with the composed one."""

import json
import math
import os
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
CRATE, TARGET = ROOT / "docs" / "rust" / "candle", ROOT / ".nox" / "target"
STEPS = 200


def shown():
    """Losses, and by how much of its length the embedding moved; None, and why, without cargo."""
    if shutil.which("cargo") is None:
        print("candle: not run: no cargo")
        return None
    argv = ["cargo", "build", "--release", "--locked", "--quiet"]
    subprocess.run(argv, cwd=CRATE, env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)}, check=True)
    lock = tomllib.loads((CRATE / "Cargo.lock").read_text())["package"]
    version = next(package["version"] for package in lock if package["name"] == "candle-nn")
    return {"version": f"candle {version}", "steps": STEPS, "fused": run("--fused"), "composed": run()}


def run(*options):
    from safetensors.numpy import load_file

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)

        def train(steps, name):
            argv = [TARGET / "release" / "gradarbiter-candle", "--steps", steps, "--save", folder / name, "--log", folder / "log", *options]
            subprocess.run([str(part) for part in argv], check=True)
            return load_file(folder / name / "weights.safetensors")["embedding.weight"].astype(np.float64)

        first, last = train(0, "first"), train(STEPS, "last")
        losses = [json.loads(line)["loss"] for line in (folder / "log").read_text().splitlines()]
    assert len(losses) == STEPS
    assert all(map(math.isfinite, losses)), losses
    return {
        "first": losses[0],
        "last": losses[-1],
        "moved": float(np.linalg.norm(last - first) / np.linalg.norm(first)),
        "losses": [round(loss, 4) for loss in losses[::5]],
    }
