"""The sweep's parts, each shown a planted defect and a healthy twin: examples, the reference, the judge, the search for the smallest."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from harness import swept
from harness.sweep import draw, judge, mutants, reference
from harness.sweep.explore import VIEW, Reply, explore
from harness.sweep.kinds import elementwise, reduced, reduction
from harness.sweep.op import LAYOUTS, Asked, Example, Op, carried, carrier

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def cube(x):
    return x**3


def relu(x):
    return np.maximum(x, 0)


def largest(x, axis):
    return x.max(axis)


def total(x, axis):
    return x.sum(axis)


CUBE = Op(forward=cube, takes=elementwise())
RELU = Op(forward=relu, takes=elementwise())
LARGEST = Op(forward=largest, takes=reduction())
TOTAL = Op(forward=total, takes=reduction(long=True), terms=reduced)


def example(op, *, x, dtype="float64", layout="contiguous", use="once", **attributes):
    asked = Asked(tensors={"x": np.asarray(x, dtype=np.float64)}, attributes=attributes)
    shape = np.shape(op.forward(**asked.tensors, **attributes))
    return Example(asked=asked, dtype=dtype, layouts={"x": layout}, use=use, upstream=np.ones(shape))


def right(op, at):
    return mutants.healthy(op, at)


def kinds(op, at, answer):
    return {fault.kind for fault in judge.faults(op, at, reference.ask(op, at), answer)}


@given(st.sampled_from(sorted(LAYOUTS)), st.integers(1, 4), st.integers(1, 4))
def test_a_view_of_its_carrier_is_the_value_and_its_gradient_comes_back(layout, rows, columns):
    value = np.arange(1.0, rows * columns + 1).reshape(rows, columns)
    if layout == "broadcast":
        value = np.broadcast_to(value[:1], value.shape).copy()
    views = {
        "contiguous": lambda b: b,
        "transposed": lambda b: b.T,
        "strided": lambda b: b[:, ::2],
        "offset": lambda b: b[1:],
        "broadcast": lambda b: np.broadcast_to(b, value.shape),
    }
    buffer = carrier(value, layout)
    assert np.array_equal(views[layout](buffer), value)
    gradient = carried(np.ones(value.shape), layout)
    assert gradient.shape == buffer.shape
    assert gradient.sum() == value.size


def test_examples_are_the_same_in_every_run_and_reach_every_type_layout_and_use():
    first, second = (draw.generated(CUBE, 60) for _ in range(2))
    assert [e.key for e in first] == [e.key for e in second]
    assert [e.key for e in draw.generated(CUBE, 20)] == [e.key for e in first[:20]]
    assert {e.dtype for e in first} == set(CUBE.dtypes)
    assert {layout for e in first for layout in e.layouts.values()} == set(LAYOUTS)
    assert {e.use for e in first} == {"once", "twice", "chain"}


def test_gradients_of_the_reference_are_those_of_calculus():
    x = np.array([[0.5, -1.25], [2.0, 0.125]])
    at = example(CUBE, x=x)
    wanted = reference.ask(CUBE, at).gradients["x"]
    assert np.allclose((wanted.low + wanted.high) / 2, 3 * x**2, rtol=1e-10)
    assert np.all(wanted.high - wanted.low < 1e-9)


def test_at_a_kink_any_slope_between_is_right_and_one_beyond_is_not():
    at = example(RELU, x=[0.0, 1.0])
    good = {"y": np.array([0.0, 1.0])}
    for slope in (0.0, 0.5, 1.0):
        assert kinds(RELU, at, {**good, "dx": np.array([slope, 1.0])}) == set()
    for slope in (-0.25, 1.25):
        assert kinds(RELU, at, {**good, "dx": np.array([slope, 1.0])}) == {"gradient"}


def test_ties_share_one_gradient_among_them():
    at = example(LARGEST, x=[2.0, 2.0, 1.0], axis=0)
    for shares in ([1.0, 0, 0], [0.5, 0.5, 0]):
        assert kinds(LARGEST, at, {"y": np.array(2.0), "dx": np.array(shares)}) == set()
    assert kinds(LARGEST, at, {"y": np.array(2.0), "dx": np.array([1.0, 1.0, 0])}) == {"gradient"}


def test_the_slope_of_a_jump_is_not_asked():
    def sign(x):
        return np.sign(x)

    jump = Op(forward=sign, takes=elementwise())
    at = example(jump, x=[0.0, 2.0])
    assert list(reference.ask(jump, at).gradients["x"].known) == [False, True]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("value", lambda a: {**a, "y": a["y"] * 1.01}),
        ("gradient", lambda a: {**a, "dx": -a["dx"]}),
        ("missing", lambda a: {"y": a["y"]}),
        ("not accumulated", lambda a: {**a, "dx": a["dx"] / 2}),
        ("makes NaN", lambda a: {**a, "y": np.full_like(a["y"], np.nan)}),
        ("mutates", lambda a: {**a, "in.x": np.zeros((2, 2))}),
        ("order-dependent", lambda a: {**a, "again.y": a["y"] + 1, "again.dx": a["dx"]}),
    ],
)
def test_each_kind_is_told_and_a_healthy_twin_is_not(kind, change):
    at = example(CUBE, x=[[0.5, -1.25], [2.0, 0.125]], use="twice")
    good = {**right(CUBE, at), "in.x": at.buffer("x")}
    assert kinds(CUBE, at, good) == set()
    assert kinds(CUBE, at, change(good)) == {kind}


def test_an_answer_of_float32_to_float64_is_a_kind_of_its_own():
    at = example(CUBE, x=[0.5, -1.25])
    narrowed = {name: array.astype(np.float32).astype(np.float64) * (1 + 2.0**-25) for name, array in right(CUBE, at).items()}
    assert at.dtype == "float64"
    assert kinds(CUBE, at, narrowed) == {"narrow"}


def test_nan_that_is_gone_is_told():
    at = example(RELU, x=[np.nan, 1.0])
    assert kinds(RELU, at, {"y": np.array([np.nan, 1.0]), "dx": np.array([np.nan, 1.0])}) == set()
    assert kinds(RELU, at, {"y": np.array([0.0, 1.0]), "dx": np.array([0.0, 1.0])}) == {"hides NaN"}


def spread(x, shape):
    return np.broadcast_to(x, shape)


def test_a_sum_that_stops_growing_saturates_in_the_value_and_in_a_gradient():
    at = example(TOTAL, x=np.ones(1100), axis=0, dtype="bfloat16")
    assert kinds(TOTAL, at, right(TOTAL, at)) == set()
    assert kinds(TOTAL, at, {**right(TOTAL, at), "y": np.array(256.0)}) == {"saturates"}
    op = Op(forward=spread, takes=elementwise(), terms=lambda _: 1100)
    at = example(op, x=[1.0], shape=[1100], dtype="bfloat16")
    assert kinds(op, at, right(op, at)) == set()
    assert kinds(op, at, {**right(op, at), "dx": np.array([256.0])}) == {"saturates"}


def test_what_is_held_constant_has_no_gradient():
    op = Op(forward=lambda x: x * x, takes=elementwise(), held=lambda tensors: lambda x: x * tensors["x"])
    at = example(op, x=[3.0])
    assert kinds(op, at, {"y": np.array([9.0]), "dx": np.array([3.0])}) == set()
    assert kinds(op, at, {"y": np.array([9.0]), "dx": np.array([6.0])}) == {"gradient"}


def test_an_answer_as_good_as_its_type_holds_and_one_of_a_narrower_type_does_not():
    at = example(CUBE, x=[0.3125, 1.1875], dtype="float32")
    rounded = {k: v.astype(np.float32) for k, v in right(CUBE, at).items()}
    assert kinds(CUBE, at, rounded) == set()
    assert kinds(CUBE, at, {**rounded, "y": rounded["y"].astype(np.float16)}) == {"value"}


def answers(wrong=lambda at, answer: answer):
    """A framework that is right but for ``wrong``."""

    def ask(examples):
        return [Reply(end="answer", arrays=wrong(at, right(VIEW if at.view else CUBE, at))) for at in examples]

    return ask


def test_a_right_framework_has_no_findings():
    explored = explore(CUBE, answers(), framework="", dtypes=(), count=60)
    assert explored.found == ()
    assert explored.asked == explored.answered == 60


def test_a_finding_is_made_smaller_and_told_once():
    def transposed_float32(at, answer):
        bad = not at.view and at.dtype == "float32" and at.layouts["x"] == "transposed"
        return {k: v for k, v in answer.items() if k == "y" or not bad}

    (found,) = explore(CUBE, answers(transposed_float32), framework="", dtypes=(), count=60).found
    assert found.fault.kind == "missing"
    assert found.example.use == "once"
    assert found.example.told().startswith("float32; x [2, 2]; x transposed")


def test_a_view_that_is_wrong_by_itself_accuses_no_operation():
    def every_second(of_view, of_cube):
        """A framework that loses the gradient of a strided view, of the view alone and of what is asked through it; and one that loses the second only."""

        def wrong(at, answer):
            lost = "strided" in at.layouts.values() and (of_view if at.view else of_cube)
            return {k: 0 * v if lost and k == "dx" else v for k, v in answer.items()}

        return explore(CUBE, answers(wrong), framework="", dtypes=(), count=60)

    blurred = every_second(of_view=True, of_cube=True)
    assert blurred.found == ()
    assert blurred.blurred >= 5
    assert [f.fault.kind for f in every_second(of_view=False, of_cube=True).found] == ["gradient"]


def test_what_refuses_its_backward_alone_has_its_value_judged():
    def no_backward(wrong):
        def ask(examples):
            if examples[0].view:
                return answers()(examples)
            return [Reply(end="raised", message="no backward", arrays={"y": right(CUBE, at)["y"] + wrong}) for at in examples]

        return ask

    for wrong, said in ((0.0, ["loud"]), (1.0, ["value", "loud"])):
        found = explore(CUBE, no_backward(wrong), framework="", dtypes=(), count=10).found
        assert [f.fault.kind for f in found] == said


def test_only_the_types_a_framework_has_are_asked():
    seen = []
    explore(CUBE, lambda examples: seen.extend(examples) or answers()(examples), framework="", dtypes=("float64",), count=20)
    assert {at.dtype for at in seen} == {"float64"}
    assert len(seen) == 20


def test_what_a_framework_has_no_kernel_for_is_not_asked(tmp_path):
    """The child's half: a refusal that the framework's ``unasked`` knows is none, any other is."""
    said = {"end": "raised"}
    ways = SimpleNamespace(view=lambda buffer, *_: buffer, unasked=lambda raised: "no kernel" in str(raised))
    adapter = SimpleNamespace(load=lambda path, _: load_file(path), settle=lambda out: out, save=lambda *_: None, facts=dict)
    save_file({f"{number}/{name}": np.ones(1) for number in (0, 1) for name in ("x", "upstream")}, tmp_path / "in")
    asked = {"tensors": {"x": [1]}, "floats": ["x"], "layouts": {"x": "contiguous"}, "use": "once", "gradient": False, "view": False}
    (tmp_path / "examples").write_text(json.dumps([{**asked, "attributes": {"why": why}} for why in ("no kernel", "wrong")]))

    def raises(why, **_):
        raise RuntimeError(why)

    request = {
        "load": lambda what, _: ways if what == "ways" else SimpleNamespace(op=raises),
        "ways": "ways",
        "file": "run",
        "function": "op",
    }
    request |= {"examples": str(tmp_path / "examples"), "inputs": str(tmp_path / "in"), "outputs": "", "mode": "eager"}
    assert swept.answer(request, adapter, lambda *_: said)["said"] == [{"end": "unasked"}, said]


def test_what_a_framework_documents_differs_and_anything_else_is_wrong():
    def square(x):
        return x * x

    op = dataclasses.replace(CUBE, documented={"other": ("a link", "why", square)})
    squares = dataclasses.replace(CUBE, forward=square)

    def ask(examples):
        return [Reply(end="answer", arrays=right(VIEW if at.view else squares, at)) for at in examples]

    explored = explore(op, ask, framework="other", dtypes=(), count=20)
    assert explored.found == ()
    assert explored.differs
    assert explore(op, ask, framework="another", dtypes=(), count=20).found


def test_arguments_that_only_a_refusal_answers():
    op = dataclasses.replace(CUBE, invalid=lambda _: True)
    refused = explore(op, lambda examples: [Reply(end="raised", message="no")] * len(examples), framework="", dtypes=(), count=10)
    assert refused.found == ()
    assert refused.answered == 10
    (found,) = explore(
        op, lambda examples: [Reply(end="answer", arrays={"y": np.ones(1)})] * len(examples), framework="", dtypes=(), count=10
    ).found
    assert found.fault.kind == "accepts"


@pytest.mark.parametrize("op", [CUBE, RELU, LARGEST, TOTAL])
def test_every_mutant_is_noticed_and_the_rounded_reference_is_not_accused(op):
    judged = mutants.judged(op)
    assert len(judged) > 8
    assert not [name for name, survives in judged.items() if survives]
    assert mutants.accused(op) == []
