"""What gradarbiter costs, in training steps of the tiny trainer: CPU time, one thread, interleaved. Run: python -m tests.bench_arbiter; asserts nothing."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from dataclasses import replace

from arbiter_trainer import shown

import gradarbiter
from trainer import config, data, device, step

ROUNDS = 5


def cpu_s(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = data.sample(Path(temporary) / "sample")
        # Two micro-batches, so that accumulation is asked too; a check sees the whole batch of a step.
        chosen = config.tiny(batch=2, accumulate=2, threads=1, progress=False, out="")
        with device.entered(chosen) as place:
            run = step.begin(chosen, data.Tokens(folder), place)
            given = shown(step.begin(chosen, data.Tokens(folder), place))  # another, which stays untrained
            expect = replace(given.pop("expect"), recipe=None)
            reference = given.pop("reference")
            step.one_step(run)  # fills caches
            kinds = {
                "gradient_flow": {"only": ["gradient_flow"]},
                "all without a recipe": {},
                "all with a second implementation": {"reference": reference},
            }
            steps, costs, parts = [], {name: [] for name in kinds}, {}
            for _ in range(ROUNDS):
                steps.append(cpu_s(lambda: step.one_step(run)))
                for name, options in kinds.items():
                    reports = []
                    costs[name].append(
                        cpu_s(lambda options=options, reports=reports: reports.append(gradarbiter.check(**given, expect=expect, **options)))
                    )
                    parts[name] = {r.check: (r.status, r.cpu_s) for r in reports[0].results}
    one = statistics.median(steps)
    print(f"a training step of {chosen.batch * chosen.accumulate * chosen.length} tokens, {chosen.dtype}: {one:.3f} s of CPU")
    for name, each in costs.items():
        ratios = [cost / of for cost, of in zip(each, steps, strict=True)]
        print(f"{name}: {statistics.median(ratios):.2f} steps ({min(ratios):.2f} to {max(ratios):.2f})")
        print(
            "   "
            + ", ".join(f"{check} {status if status != 'ok' else ''}{cost / one:.1f}" for check, (status, cost) in parts[name].items())
        )


if __name__ == "__main__":
    main()
