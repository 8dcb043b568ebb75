"""docs/side_by_side.md from results/rivals.json and results/detection.json: `python -m tests.rivals_page`; `tests.rivals` calls it at its end."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "side_by_side.md"
HEAD = """# Side by side: what other tools catch of the same faults

Made by `python3 noxfile.py -s rivals`; do not edit. Each tool was run on each of the faults of [detection.md](detection.md) that it can be asked
about, and on healthy runs. *Caught*: it raised, warned, stopped or failed where healthy runs do not. *Shown*: no verdict, but a number of its own is
zero, absent or not finite where a healthy run's is not. What each said: [results/rivals.json](../results/rivals.json). The other tools were made for
other questions; gradarbiter was made for this table, by those who planted the faults.

| tool | applies to | caught | shown | false alarms, same configuration | other healthy ones | CPU seconds a run | in training steps |
|---|---|---|---|---|---|---|---|"""


def write():
    rivals, detection = (json.loads((ROOT / "results" / f"{name}.json").read_text()) for name in ("rivals", "detection"))
    PAGE.write_text("\n".join(page(rivals, detection)) + "\n")


def page(rivals, detection):
    tools, totals = rivals["tools"], detection["totals"]
    yield HEAD
    healthy = f"{totals['accused']} of {totals['healthy_runs']}, all set-ups"
    yield row("gradarbiter, all checks", totals["faults"], totals["caught"], "", healthy, "", totals["cpu_s_a_fault"], "")
    for name, t in tools.items():
        applies = f"{t['applicable']}, of which {t['not run']} not run" if t["not run"] else t["applicable"]
        alarms = (t["false_alarms"], t.get("false_alarms_other_configurations", ""))
        yield row(f"{name} {t['version']}", applies, t["caught"], t["shown"], *alarms, t["cpu_s_a_run"], t["in_training_steps"])
    yield ""
    for name, t in tools.items():
        yield f"- **{name}**: {t['use']}."
        for where, what in t.get("where", {}).items():
            yield f"  Accused of the healthy `{where}`: {what}."
    if t := tools.get("traincheck"):
        struck = f"{t['struck_out']} of {t['invariants']} invariants were struck out"
        yield f"  Before striking out it accused {t['false_alarms_before_striking_out']} healthy runs; {struck}."
        yield f"  Making the invariants took {t['infer_cpu_s']} CPU seconds, once; a trace of {t['training_steps']} steps is {t['trace_mb']} MB."
    yield ""
    yield row("fault", "layer", "gradarbiter", *tools)
    yield "|---" * (3 + len(tools)) + "|"
    ours = {fault["fault"]: fault["check"] if fault["caught"] else "missed" for fault in detection["faults"]}
    for fault, said in rivals["faults"].items():
        words = ["" if said[tool].startswith("does not apply") else said[tool].split(":")[0] for tool in tools]
        yield row(fault, said["layer"], ours[fault], *words)


def row(*cells):
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    write()
