"""Where a model's arithmetic is worse than its type explains, module by module, beside a float64 copy; careful that a hidden downcast is in the copy too.

Three questions, since each is blind where another sees. Each module on its own inputs in float64: catches cancellation and overflow, not a downcast that
stands in the code, which the copy shares. The casts themselves, and how many bits of a float32 are used: catch that. A token whose embedding is all zero,
as padding's is: catches an epsilon that is nothing in the type it is kept in.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradarbiter import frameworks, runs
from gradarbiter.bits import NARROW, narrowed
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.runs import accusation, note
from gradarbiter.subject import Subject, matches

SAFETY = 8.0  # a rounding error is one draw of what `rounding` is another draw of; sums of products of them are not eight times as large


def low_precision(
    model: Any,
    batch: Any,
    loss_fn: Any,
    optimizer: Any = None,
    *,
    declared: Sequence[str] = (),
    say: runs.Say = runs.say,
    **options: Any,
) -> Result:
    """Ask a torch model; others are NotAsked. Arguments as `gradarbiter.check`; all of it is left as it was.

    ``declared``: patterns of modules (and "loss_fn") that are meant to compute in a narrower type than their weights. What autocast does, or follows from
    the type of a parameter or an input, is declared. With ``optimizer`` (or ``step=``) two training steps show whether weights, gradients and optimizer
    states keep their bits. An own error is accused above 8 x (rounding + unit) x sqrt(terms x modules): ``rounding`` is measured, as what moving all inputs
    and weights by one unit roundoff does to this module, terms are those of its longest sum (1 for types narrower than float32: they are summed in it).
    """

    def ask() -> Iterator[Finding]:
        subject = frameworks.subject(model, batch, loss_fn, optimizer, **options)
        if subject.framework != "torch":
            raise NotAsked(
                f"modules of {subject.framework} cannot be heard one by one: compare gradients with a float64 copy (gradient_parity)"
            )
        with subject.kept():
            try:
                yield from _modules(subject, declared, say)
            except NotAsked as reason:
                yield note("not asked", "float64 copy", str(reason))
            yield from _casts(subject, declared)
            yield from _steps(subject, has_step=optimizer is not None or "step" in options)
            yield from _zero_row(subject)

    return runs.answered("low_precision", ask)


def _modules(subject: Any, declared: Sequence[str], say: runs.Say) -> Iterator[Finding]:
    from gradarbiter.frameworks import torch_precision as seen

    def forward(of: Any) -> Any:
        return lambda: of.loss(training=False)

    size = sum(math.prod(p.shape) for p in subject.parameters())
    outputs = seen.sizes(subject.model, forward(subject))
    nesting = max(name.count(".") + 1 for name, _ in subject.model.named_modules())
    passes = f"4 forward and 2 backward passes, {1 + 2 * nesting} forward passes in float64, 2 training steps"
    say(f"low_precision: {8 * (size + outputs):,} bytes for {size:,} weights and {outputs:,} outputs in float64; {passes}")
    wide = subject.wide()
    if wide is None:
        raise NotAsked("there is no float64 copy of this model")
    found = seen.Beside(subject.model, wide.model, seen.wide_outputs(wide.model, forward(wide))).run(forward(subject))
    accused: list[str] = []
    for one in found:
        inner = any(name.startswith(f"{one.name}.") or one.name == "the model" for name in accused)  # a module inside of it has been named
        if inner or matches(one.name, declared):
            continue
        limit = limit_of(one)
        if not one.finite and one.wide_finite:
            text = f"its output is not finite in {one.dtype}, and is in float64 on the same inputs"
            yield accusation("not finite", one.name, text)
        elif one.bits and not one.autocast:
            what = "what it is given from between modules" if one.inner_bits else "its output"
            yield accusation(
                "few bits",
                one.name,
                f"{what} is {one.dtype} and carries {one.bits} bits: it went through {NARROW[one.bits]}",
                bits=one.bits,
            )
        elif one.own is not None and one.own > limit:
            text = f"on its own inputs it is {one.own:.1e} off float64; {one.dtype} explains {limit:.1e}"
            yield accusation("own error", one.name, text, error=one.own, limit=limit)
        else:
            continue
        accused.append(one.name)
    yield from _summary(found)


def limit_of(one: Any) -> float:
    terms = one.terms if one.unit < 1e-6 else 1
    return SAFETY * float(one.rounding + one.unit) * math.sqrt(terms * one.children)


def _summary(found: Sequence[Any]) -> Iterator[Finding]:
    alone = [one.name for one in found if one.own is None]
    if alone:
        yield note("not asked", alone[0], f"{len(alone)} modules cannot be called alone in float64: their own error is not known")
    known = [one for one in found if one.own is not None and math.isfinite(one.own)]
    if known:
        worst = max(known, key=lambda one: one.own / limit_of(one))
        text = f"nearest to its limit: {worst.own:.1e} off on its own inputs, {limit_of(worst):.1e} allowed"
        yield note("own error", worst.name, text, error=worst.own, limit=limit_of(worst))
    errors = [one for one in found if math.isfinite(one.error)]
    if errors:
        half = next(one for one in errors if one.error >= 0.5 * max(e.error for e in errors))
        text = f"first to be half as far from the float64 model as anything is: {half.error:.1e}; the end is {errors[-1].error:.1e} off"
        yield note("diverges first", half.name, text, error=half.error, end=errors[-1].error)


def _casts(subject: Any, declared: Sequence[str]) -> Iterator[Finding]:
    from gradarbiter.frameworks.torch_casts import GRADIENT, Casts

    with Casts(subject.model).watching() as watched:
        gradients = subject.gradients(training=True)[1]
    found = [cast for cast in watched.found.values() if not matches(cast.where, declared)]
    for kind in dict.fromkeys(cast.kind for cast in found):  # a model has many norms, and one mistake
        alike = [cast for cast in found if cast.kind == kind]
        cast, more = alike[0], f" (and {len(alike) - 1} more alike)" if len(alike) > 1 else ""
        what = f"{'its gradient' if kind == GRADIENT else 'values'} went from {cast.before} to {cast.after}, {cast.changed:,} of {cast.size:,} changed{more}"
        yield accusation(
            "hidden cast",
            cast.where,
            f"{what}: nothing (autocast, a weight, an input) asked for it",
            changed=cast.changed,
            places=len(alike),
        )
    if watched.autocast:
        yield note("not asked", "gradients", "how many bits they carry: under autocast few are meant")
        return
    told = {cast.where for cast in found}
    for p in subject.parameters():
        gradient = gradients.get(p.name)
        if p.name not in told and p.dtype == "float32" and gradient is not None and (few := narrowed(gradient)):
            yield accusation("few bits", p.name, f"its gradient is float32 and carries {few} bits: it went through {NARROW[few]}", bits=few)
            return


def _steps(subject: Any, *, has_step: bool) -> Iterator[Finding]:
    """After two steps: a first momentum is the gradient itself, which may have few bits."""
    if not has_step:
        yield note("not asked", "steps", "whether weights and optimizer states keep their bits: give optimizer= or step=")
        return
    before = subject.read()
    subject.step()
    subject.step()
    after, wide = subject.read(), {p.name for p in subject.parameters() if p.dtype == "float32"}
    stuck = [name for name in after if name in wide and not np.array_equal(after[name], before[name]) and narrowed(after[name])]
    if stuck:
        few = narrowed(after[stuck[0]])
        assert few
        text = f"{len(stuck)} weights are float32 and carry {few} bits after a step: they are rounded to {NARROW[few]}, so small updates vanish"
        yield accusation("few bits", stuck[0], text, bits=few, weights=len(stuck))
    from gradarbiter.frameworks.torch_runs import states

    for name, key, value in states(subject):
        if str(value.dtype) == "torch.float32" and (few := narrowed(value.cpu().numpy())):
            text = f"the optimizer's {key} of it is float32 and carries {few} bits: it is rounded to {NARROW[few]}"
            yield accusation("few bits", name, text, bits=few)
            return


def _zero_row(subject: Subject) -> Iterator[Finding]:
    from gradarbiter.frameworks import torch_precision as seen

    tables = [p.name for p in subject.parameters() if p.table]
    try:
        ids = subject.tokens()
    except NotAsked as reason:
        yield note("not asked", "zero embedding", str(reason))
        return
    if not tables:
        yield note("not asked", "zero embedding", "the model has no embedding that is looked up")
        return
    values = subject.read()
    table = values[tables[0]].copy()
    table[int(np.bincount(ids[ids >= 0].ravel()).argmax())] = 0
    subject.write({tables[0]: table})
    where = seen.first_not_finite(subject.model, lambda: subject.loss(training=False))  # type: ignore[attr-defined]
    if where:
        text = "its output is not finite once the embedding of a token is all zero (as padding's is): an epsilon is missing, or is 0 in its type"
        yield accusation("zero embedding", where, text)
        return
    bad = [name for name, g in subject.gradients(training=False)[1].items() if g is not None and not np.isfinite(g).all()]
    if bad:
        text = f"{len(bad)} gradients are not finite once the embedding of a token is all zero: a derivative at 0 is infinite"
        yield accusation("zero embedding", bad[0], text, gradients=len(bad))


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("factory", help="module:function that returns a dict with model, batch, loss_fn (and optimizer, step)")
    parser.add_argument("--declared", nargs="*", default=[], metavar="PATTERN", help="modules that are meant to compute in a narrower type")
    runs.common(parser)


def main(options: argparse.Namespace) -> int:
    given = runs.from_factory(options.factory, default="model")
    return runs.finished(options.factory, low_precision(**{"declared": options.declared, **given}), options)
