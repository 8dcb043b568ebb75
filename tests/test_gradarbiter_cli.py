"""The command: check, compare, list, its exit statuses, and that bad input is three lines without a traceback."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

torch = pytest.importorskip("torch")

from safetensors.torch import save_file as save_torch  # noqa: E402

from gradarbiter import compare  # noqa: E402
from gradarbiter.__main__ import main  # noqa: E402

pytestmark = pytest.mark.arbiter

FACTORY = """
import torch

class LM(torch.nn.Module):
    def __init__(self, cut):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.head, self.cut = torch.nn.Embedding(11, 8), torch.nn.Linear(8, 11), cut
    def forward(self, ids):
        x = self.embedding(ids)
        return self.head(x.detach() if self.cut else x)

def parts(cut=False):
    model = LM(cut)
    def loss_fn(model, ids):
        return torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    return {"model": model, "batch": torch.arange(24).reshape(4, 6) % 11, "loss_fn": loss_fn, "optimizer": torch.optim.AdamW(model.parameters())}

def healthy():
    return parts()

def frozen():
    return tuple(parts(cut=True).values())

def wrong():
    return {**parts(), "modle": 1}

def nothing():
    return "a model"

def fails():
    raise RuntimeError("the user's own")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mymodel.py").write_text(FACTORY)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("mymodel", None)


def test_check_a_healthy_model(folder, capsys):
    assert main(["check", "mymodel:healthy", "--only", "gradient_flow,mode"]) == 0
    out = capsys.readouterr().out
    assert "gradient_flow" in out
    assert "mode" in out
    assert "causality" not in out


def test_check_names_the_frozen_parameter(folder, capsys):
    assert main(["check", "mymodel:frozen", "--skip", "loss_scale,next_token", "--json", "report.json"]) == 1
    assert "embedding.weight" in capsys.readouterr().out
    report = json.loads((folder / "report.json").read_text())
    assert report["exit_status"] == 1
    flow = next(row for row in report["results"] if row["check"] == "gradient_flow")
    assert {f["parameter"] for f in flow["findings"] if f["accuses"]} == {"embedding.weight"}
    assert not {"loss_scale", "next_token"} & {row["check"] for row in report["results"]}


def test_json_to_standard_output(folder, capsys):
    assert main(["check", "mymodel:healthy", "--only", "mode", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["check"] == "mode"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mymodel:healthy", "--only", "gradent_flow"], "gradent_flow"),
        (["mymodel:missing"], "missing"),
        (["nosuchmodule:factory"], "nosuchmodule"),
        (["mymodel"], "mymodel"),
        (["mymodel:wrong"], "modle"),
        (["mymodel:nothing"], "'batch'"),
    ],
)
def test_bad_input_is_three_lines(folder, capsys, arguments, said):
    assert main(["check", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line.partition(":")[0] for line in captured.err.splitlines() if line.startswith(("found", "wanted", "do this"))] == [
        "found",
        "wanted",
        "do this",
    ]
    assert said in captured.err


def test_an_error_of_the_users_own_keeps_its_traceback(folder):
    with pytest.raises(RuntimeError, match="the user's own"):
        main(["check", "mymodel:fails"])


def test_list_has_a_line_for_each_check(capsys):
    from gradarbiter import checks, runs

    assert main(["list"]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert [name for name, _ in lines] == [*checks.names(), *(name.replace("_", "-") for name in runs.names())]
    assert all(len(text) > 20 for _, text in lines)


def test_run_checks_have_their_own_commands(capsys):
    from gradarbiter import runs

    for name in runs.names():
        if hasattr(runs.load(name), "main"):
            with pytest.raises(SystemExit) as ended:
                main([name.replace("_", "-"), "--help"])
            assert ended.value.code == 0
    assert "exact-resume" in capsys.readouterr().out


def test_the_module_runs():
    done = subprocess.run(
        [sys.executable, "-m", "gradarbiter", "compare", "a", "b"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )
    assert done.returncode == 2
    assert done.stderr.startswith("found:   a: ")
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------------------------------------------------------- compare


def gradients(seed=1):
    rng = np.random.default_rng(seed)
    return {
        "layers.0.w": rng.standard_normal((16, 8)) * 0.1,
        "layers.0.b": rng.standard_normal(8) * 0.01,
        "head": rng.standard_normal((8, 32)),
    }


def ask(tmp_path, got, want, *options, save=save_file):
    save(
        {name: np.asarray(value, dtype=np.float32) for name, value in got.items()} if save is save_file else got,
        tmp_path / "got.safetensors",
    )
    save_file(want, tmp_path / "want.safetensors")
    status = main(
        ["compare", str(tmp_path / "got.safetensors"), str(tmp_path / "want.safetensors"), *options, "--json", str(tmp_path / "out.json")]
    )
    findings = json.loads((tmp_path / "out.json").read_text())["results"][0]["findings"]
    return (
        status,
        {(f["kind"], f["parameter"]): f["text"] for f in findings if f["accuses"]},
        {f["kind"]: f["text"] for f in findings if not f["accuses"]},
    )


def test_rounded_gradients_agree_and_the_tolerance_is_said(tmp_path):
    want = gradients()
    status, accused, notes = ask(tmp_path, want, want)
    assert (status, accused) == (0, {})
    assert "float32: 0.00025" in notes["tolerance"]
    assert "16 sums of 4096 terms" in notes["tolerance"]


def test_each_defect_has_its_word(tmp_path):
    want = gradients()
    want |= dict.fromkeys(("missing", "zero", "nan", "turned", "lost", "noisy", "factor"), want["layers.0.w"])
    got = {**want, "zero": np.zeros((16, 8)), "turned": want["turned"].T.copy(), "lost": want["lost"][:8], "factor": 0.25 * want["factor"]}
    got["nan"] = np.where(np.arange(128).reshape(16, 8) == 5, np.nan, want["nan"])
    got["noisy"] = want["noisy"] + 0.01 * np.random.default_rng(3).standard_normal((16, 8))
    got["extra"] = np.ones(3)
    del got["missing"]
    status, accused, notes = ask(tmp_path, got, want)
    assert status == 1
    assert set(accused) == {
        ("missing", "missing"),
        ("zero", "zero"),
        ("non-finite", "nan"),
        ("shape", "turned"),
        ("shape", "lost"),
        ("deviation", "noisy"),
        ("deviation", "factor"),
    }
    assert "transposed" in accused["shape", "turned"]
    assert "transposed" not in accused["shape", "lost"]
    assert "0.25 times the reference" in accused["deviation", "factor"]
    assert "times the reference" not in accused["deviation", "noisy"]
    assert "1 of 128" in accused["non-finite", "nan"]
    assert "extra" in notes


def test_one_wrong_element_is_seen(tmp_path):
    want = gradients()
    got = {**want, "head": want["head"] + (np.arange(256).reshape(8, 32) == 77) * 0.01}
    _, accused, _ = ask(tmp_path, got, want)
    assert "most at (2, 13)" in accused["deviation", "head"]


def test_a_gradient_that_vanishes_by_symmetry_is_not_held_to_its_own_norm(tmp_path):
    """The bias of a key projection: zero in exact arithmetic, a rounding of the others in float32, and left out by a framework that sees it."""
    want = {**gradients(), "key.bias": np.random.default_rng(4).standard_normal(8) * 1e-17}
    assert ask(tmp_path, {**want, "key.bias": np.random.default_rng(5).standard_normal(8) * 1e-9}, want)[:2] == (0, {})
    assert ask(tmp_path, {name: want[name] for name in want if name != "key.bias"}, want)[:2] == (0, {})
    assert ask(tmp_path, {**want, "key.bias": np.full(8, 1e-3)}, want)[0] == 1


def test_bfloat16_is_read_and_allowed_its_rounding(tmp_path):
    want = gradients()
    got = {name: torch.from_numpy(value).bfloat16() for name, value in want.items()}
    status, accused, notes = ask(tmp_path, got, want, save=save_torch)
    assert (status, accused) == (0, {})
    assert "bfloat16: 0.063" in notes["tolerance"]
    read = compare.read(tmp_path / "got.safetensors")["head"]
    assert read.dtype == "bfloat16"
    assert np.array_equal(read.values, got["head"].float().numpy())


def test_computed_in_bfloat16_stored_in_float32(tmp_path):
    want = gradients()
    got = {name: torch.from_numpy(value).bfloat16().float().numpy() for name, value in want.items()}
    assert ask(tmp_path, got, want)[0] == 1
    assert ask(tmp_path, got, want, "--derive", "bfloat16")[0] == 0
    assert ask(tmp_path, got, want, "--rtol", "0.01")[0] == 0


def test_terms_and_depth_widen_what_is_allowed(tmp_path):
    want = gradients()
    got = {name: value * (1 + 5e-4) for name, value in want.items()}
    assert ask(tmp_path, got, want)[0] == 1
    assert ask(tmp_path, got, want, "--terms", "65536")[0] == 0
    assert ask(tmp_path, got, want, "--depth", "64")[0] == 0


@pytest.mark.parametrize("case", ["text", "integers", "nan in the reference", "nothing in the reference"])
def test_files_that_cannot_be_compared(tmp_path, capsys, case):
    good, bad = tmp_path / "good.safetensors", tmp_path / "bad.safetensors"
    save_file({"w": np.ones(3, np.float32)}, good)
    if case == "text":
        bad.write_text("no tensors")
    else:
        save_file({"integers": {"w": np.ones(3, np.int64)}, "nan in the reference": {"w": np.array([np.nan])}}.get(case, {}), bad)
    assert main(["compare", str(good), str(bad)]) == 2
    assert capsys.readouterr().err.count("\n") == 3


def test_the_tolerance_holds_for_real_float32(tmp_path):
    """A deep float32 model against itself in float64: what is allowed is enough, and not a thousand times too much."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[part for _ in range(4) for part in (torch.nn.Linear(64, 64), torch.nn.LayerNorm(64), torch.nn.GELU())])
    x = torch.randn(512, 64)
    found = {}
    for dtype in (torch.float32, torch.float64):
        model = model.to(dtype)
        model.zero_grad()
        (model(x.to(dtype)) ** 2).mean().backward()
        found[dtype] = {name: p.grad.numpy().copy() for name, p in model.named_parameters()}
    assert ask(tmp_path, found[torch.float32], found[torch.float64])[:2] == (0, {})
    size = {name: np.linalg.norm(found[torch.float32][name] - g) / np.linalg.norm(g) for name, g in found[torch.float64].items()}
    assert max(size.values()) > compare.tolerance("float32", "float64", terms=512, depth=16) / 1000
