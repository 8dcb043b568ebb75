"""`pip install .` in a fresh environment: this package, NumPy and safetensors, and the command runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.arbiter, pytest.mark.slow]

ROOT = Path(__file__).parents[1]


def test_a_fresh_environment_holds_nothing_else(tmp_path):
    def run(*argv):
        done = subprocess.run([str(part) for part in argv], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    run(sys.executable, "-m", "venv", "fresh")
    python = tmp_path / "fresh" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", ROOT)
    found = {p["name"] for p in json.loads(run(python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"))}
    assert found - {"pip", "setuptools"} == {"gradarbiter", "numpy", "safetensors"}
    packages = next((tmp_path / "fresh" / "lib").glob("python3*/site-packages"))
    assert not [name for name in ("harness", "trainer", "cases", "tests") if (packages / name).exists()]
    listed = run(tmp_path / "fresh" / "bin" / "gradarbiter", "list")
    ours = {path.stem for folder in ("checks", "runs") for path in (ROOT / "gradarbiter" / folder).glob("[a-z]*.py")}
    assert {line.split()[0].replace("-", "_") for line in listed.splitlines() if line.startswith("  ")} == ours
