"""What an answer becomes: repeated cells, declared absences, documented choices, compiled mode."""

import pytest

from harness import pins, source
from harness.matrix import all_cells


def case(fakes, old, new):
    file = fakes.cases / "scale" / "case.py"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def cell(fakes, variant="", mode="eager"):
    source.functions.cache_clear()
    source._with_private.cache_clear()
    found = all_cells(fakes, pins.select(pins.read(fakes.pins), ["fake-1.0"]))
    return next(c for c in found if c.spec.id == "scale" and c.variant == variant and c.mode == mode)


SOMETIMES = """from pathlib import Path


def run(x, w, dy):
    count = Path(__file__).with_suffix(".count")
    times = len(count.read_text()) if count.exists() else 0
    count.write_text("x" * (times + 1))
    out = {"y": x * w, "dx": dy * w, "dw": (dy * x).sum((0, 1))}
    return {**out, "dx": 2 * dy} if times % 4 == 1 else out
"""


def test_sometimes_wrong_is_unstable_with_its_interval(fakes, asker):
    case(fakes, "limit_s=2.0", "limit_s=2.0, repeat=8")
    (fakes.cases / "scale" / "run_fake.sometimes.py").write_text(SOMETIMES)
    answer = asker.ask(cell(fakes, "sometimes"))
    assert answer["status"] == "unstable"
    assert answer["message"].startswith("fails 2 of 8 (95 % interval 7% to 59%): dx close")


def test_always_wrong_stays_silent_when_repeated(fakes, asker):
    case(fakes, "limit_s=2.0", "limit_s=2.0, repeat=3")
    assert asker.ask(cell(fakes, "lost_gradient"))["status"] == "silent"
    assert asker.ask(cell(fakes))["status"] == "ok"


@pytest.mark.parametrize(
    ("name", "status", "cause", "words"),
    [
        ("numpy.no_such_thing", "absent", None, "numpy has none"),
        ("numpy.linalg.no_such.thing", "absent", None, "numpy has none"),
        ("numpy.linalg.norm", "error", "harness", "declared absent, but numpy.linalg.norm exists"),
    ],
)
def test_a_declared_absence_is_looked_up(fakes, asker, name, status, cause, words):
    for file in (fakes.cases / "scale").glob("run_fake*"):
        file.unlink()
    case(fakes, "import Case, Tol", "import Absent, Case, Tol")
    case(fakes, "limit_s=2.0", f"limit_s=2.0, absent={{'fake': Absent(names=('{name}',), why='numpy has none')}}")
    answer = asker.ask(cell(fakes))
    assert (answer["status"], answer["cause"]) == (status, cause)
    assert words in answer["message"]


def documented(fakes):
    case(fakes, "import Case, Tol", "import Case, Documented, Tol")
    case(
        fakes, "\n\nCASE =", "\n\ndef doubled(x, w, dy):\n    return {'y': x * w, 'dx': 2 * dy * w, 'dw': (dy * x).sum((0, 1))}\n\n\nCASE ="
    )
    case(fakes, "limit_s=2.0", "limit_s=2.0, documented={'fake': Documented(reference=doubled, link='its manual', why='it doubles')}")


def test_only_the_documented_answer_differs(fakes, asker):
    documented(fakes)
    healthy = (fakes.cases / "scale" / "run_fake.py").read_text()
    (fakes.cases / "scale" / "run_fake.doubles.py").write_text(healthy.replace("dy * w,", "2 * dy * w,"))
    (fakes.cases / "scale" / "run_fake.triples.py").write_text(healthy.replace("dy * w,", "3 * dy * w,"))
    (fakes.cases / "scale" / "run_fake.loses.py").write_text(
        healthy.replace('"dx": dy * w,', '"dx": 2 * dy * w,').replace(', "dw": (dy * x).sum((0, 1))', "")
    )
    answer = asker.ask(cell(fakes, "doubles"))
    assert (answer["status"], answer["message"]) == ("differs", "it doubles (its manual)")
    assert asker.ask(cell(fakes, "triples"))["status"] == "silent"
    assert asker.ask(cell(fakes, "loses"))["status"] == "silent"
    assert asker.ask(cell(fakes))["status"] == "ok"


def compiling(fakes, body):
    """The fake framework with a compiled mode."""
    pinned = fakes.pins.read_text()
    fakes.pins.write_text(pinned.replace('language = "python"', 'language = "python"\ncompiles = true'))
    case(fakes, "limit_s=2.0", "limit_s=2.0, compiled=('float32',)")
    adapter = fakes.frameworks / "fake" / "adapter.py"
    adapter.write_text(f"{adapter.read_text()}\n\ndef compiled(function):\n    {body}\n")


def test_compiled_mode_compiles(fakes, asker):
    compiling(fakes, "raise RuntimeError('the compiler was asked')")
    assert asker.ask(cell(fakes, mode="compiled"))["message"] == "RuntimeError: the compiler was asked"
    assert asker.ask(cell(fakes))["status"] == "ok"


def test_an_input_that_is_a_view_arrives_as_its_numbers(fakes, asker):
    """safetensors writes an array's memory and ignores its strides."""
    case(fakes, '"x": grid(rng, 2, 3, 4)', '"x": grid(rng, 4, 3, 2).transpose(2, 1, 0)')
    assert asker.ask(cell(fakes))["status"] == "ok"


@pytest.mark.parametrize(("body", "kept"), [("time.sleep(60)", False), ("return {}", True)])
def test_what_a_killed_cell_compiled_is_thrown_away(fakes, asker, body, kept):
    """Half a file in torch's folder of compiled code would be loaded by every later cell."""
    compiling(fakes, "return function")
    (fakes.cases / "scale" / "run_fake.killed.py").write_text(f"import time\n\n\ndef run(x, w, dy):\n    {body}\n")
    asked = cell(fakes, "killed", mode="compiled")
    half = asker.compiled(asked) / "half.so"
    half.parent.mkdir(parents=True)
    half.write_text("")
    assert asker.ask(asked)["status"] == ("silent" if kept else "hang")
    assert half.exists() == kept


@pytest.mark.parametrize(("device", "forked"), [("", True), ("cuda", False)])
def test_a_question_about_a_device_has_a_process_of_its_own(fakes, asker, device, forked):
    case(fakes, "limit_s=2.0", f"limit_s=20.0, device={device!r}")
    assert asker.ask(cell(fakes))["environment"]["forked"] == forked
