"""What other tools catch of the same table of faults: `python -m tests.rivals`; careful that each is asked of healthy runs too, and often.

Needs the environment `rivals` (`nox -s rivals`); writes results/rivals.json. Of every fault and tool one line: "caught: <its first words>" (it raised, warned,
stopped or failed where healthy twins do not), "shown: ..." (no verdict, but a number of its own is zero, absent or not finite where a healthy twin's is not,
or it counts other parameters), "missed", "does not apply: <why>", or "not run" (outside the sample). A number that is only another number is missed.
"""

import argparse
import json
import os
import statistics
import warnings
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests import rivals_gradcheck, rivals_lightning, rivals_page, rivals_traincheck, rivals_transformers
from tests import rivals_runs as runs
from trainer import data, faults
from trainer.faults import twin as twins

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".nox" / "rivals" / "work"
RESULT = ROOT / "results" / "rivals.json"
CHEAP = (rivals_gradcheck, rivals_lightning, rivals_transformers)
CALIBRATE, UNSEEN = range(1, 21), range(21, 41)  # seeds of the plain configuration; of every other one, the first five of each


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.rivals", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tools", nargs="*", default=["gradcheck", "lightning", "transformers", "traincheck"], help="ask these, keep the others' results"
    )
    parser.add_argument(
        "--sample",
        type=int,
        default=0,
        metavar="N",
        help="traincheck: N faults a layer, drawn with seed 0 (0: all; each is a minute of CPU)",
    )
    chosen = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    folder = WORK / "data"
    if not folder.exists():
        data.sample(folder, vocab=runs.VOCAB)
    for rival in CHEAP:
        if rival.NAME in chosen.tools:
            keep(rival, *survey(rival, folder))
    if "traincheck" in chosen.tools:
        keep(rivals_traincheck, *swept(folder, chosen.sample))
    rivals_page.write()
    show(json.loads(RESULT.read_text()))


def keep(rival, totals, lines):
    """Written after each tool: the next one may take an hour."""
    result = json.loads(RESULT.read_text()) if RESULT.exists() else {"tools": {}, "faults": {}}
    counted = {word: sum(line.startswith(word) for line in lines.values()) for word in ("caught", "shown", "missed", "not run")}
    layers = {layer: sum(lines[n].startswith("caught") for n, f in faults.CATALOGUE.items() if f.layer == layer) for layer in layer_names()}
    applicable = sum(not line.startswith("does not apply") for line in lines.values())
    result["tools"][rival.NAME] = {
        "version": rival.VERSION,
        "use": rival.USE,
        "applicable": applicable,
        **counted,
        "caught_by_layer": layers,
        **totals,
    }
    for name, line in lines.items():
        result["faults"].setdefault(name, {"layer": faults.CATALOGUE[name].layer})[rival.NAME] = line
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


def layer_names():
    return dict.fromkeys(fault.layer for fault in faults.CATALOGUE.values())


def survey(rival, folder):
    """A tool that is asked in this process: totals, and a line a fault."""
    warnings.simplefilter("ignore")
    names = [name for name in faults.CATALOGUE if not rival.applies(name)]
    plain = runs.Case()
    configurations = dict.fromkeys([plain, *(runs.of(name).healthy() for name in names)])
    usual, judge = {}, getattr(rival, "judge", lambda _heard, _healthy: [])
    for case in configurations:
        seeds = [*(CALIBRATE if case == plain else CALIBRATE[:5]), runs.SEED]
        usual[case] = [rival.ask(case.healthy(seed), folder) for seed in seeds]
        say(rival, f"{len(usual)} of {len(configurations)} configurations")
    assert_the_trainer_s_own(usual[plain], folder)
    alarms = {}
    for case in configurations:
        heard = [rival.ask(case.healthy(seed), folder) for seed in (UNSEEN if case == plain else UNSEEN[:5])]
        wrong = [runs.new(each, usual[plain])[0] + judge(each, usual[case]) for each in heard]
        alarms[case] = (sum(map(bool, wrong)), len(wrong), next((texts[0] for texts in wrong if texts), ""))
    lines = {name: f"does not apply: {rival.applies(name)}" for name in faults.CATALOGUE if rival.applies(name)}
    costs = []
    for name in names:
        case = runs.of(name)
        heard = rival.ask(case, folder)
        found, shown = runs.new(heard, usual[case.healthy()])
        lines[name] = line(found + judge(heard, usual[case.healthy()]), shown)
        costs.append(heard.cpu_s)
        say(rival, f"{name}: {lines[name]}")
    return {**false_alarms(alarms, plain), **cost(costs, folder), "training_steps": heard.steps}, lines


def false_alarms(alarms, plain):
    """Of the plain configuration, and of the others (padding, an infinite gradient, a tied head, ...) together."""
    wrong, asked, _ = alarms.pop(plain)
    others = {rivals_traincheck.name_of(case): f"{n} of {m}: {first[:160]}" for case, (n, m, first) in alarms.items() if n}
    total = f"{sum(n for n, _, _ in alarms.values())} of {sum(m for _, m, _ in alarms.values())}"
    return {"false_alarms": f"{wrong} of {asked}", "false_alarms_other_configurations": total, "where": others}


def cost(costs, folder):
    """Of a faulty run, in CPU seconds and in healthy training steps, measured in the same minutes."""
    middle, unit = statistics.median(costs), runs.step_cpu_s(folder)
    numbers = {"cpu_s_a_run": round(middle, 2), "in_training_steps": round(middle / unit), "cpu_s_all_faults": round(sum(costs), 1)}
    return {**numbers, "step_cpu_s": round(unit, 5)}


def line(found, shown):
    for word, texts in (("caught", found), ("shown", shown)):
        if texts:
            return f"{word}: {' '.join(texts[0].split())[:160]}"
    return "missed"


def assert_the_trainer_s_own(heard, folder):
    """A rival that trains must have trained the very run: losses to the bit."""
    if "losses" in heard[-1].numbers:
        found, wanted = heard[-1].numbers["losses"], losses(runs.Case(), folder)
        assert found == wanted, f"found {found}, wanted the trainer's {wanted}"


def losses(case, folder):
    with runs.planted(case, folder) as (twin, place):
        run = runs.begin(case, twin, place)
        twin.steps(run, run.step + twins.STEPS)
        return run.losses


def swept(folder, each):
    """traincheck: totals, and a line a fault of the sample."""
    t = rivals_traincheck
    sweep = t.Sweep(WORK / "traincheck", folder)
    sweep.prepare()
    names = t.sample([name for name in faults.CATALOGUE if not t.applies(name)], each)
    twins_of = list(dict.fromkeys(runs.of(name).healthy() for name in names))
    held = sweep.ask(t.STRUCK) + [verdict for case in twins_of for verdict in sweep.ask([case])]
    struck = {found["what"] for verdict in held for found in verdict["violated"]}
    unseen = sweep.ask(t.UNSEEN)
    lines = {name: f"does not apply: {t.applies(name)}" if t.applies(name) else "not run" for name in faults.CATALOGUE}
    verdicts, told = [], {}
    for at in range(0, len(names), 6):
        group = names[at : at + 6]
        for name, verdict in zip(group, sweep.ask([runs.of(name) for name in group]), strict=True):
            found = [f for f in verdict["violated"] if f["what"] not in struck]
            told[name] = sorted(found, key=lambda f: f["relation"] in t.ORDER)
            lines[name] = line(
                ([f"the traced run ended: {verdict['ended']}"] if verdict["ended"] else []) + [f["text"] for f in told[name]], []
            )
            verdicts.append(verdict)
            say(t, f"{name}: {len(found)} violations: {lines[name]}")
    traced = {runs.of(name): verdict["losses"] for name, verdict in zip(names, verdicts, strict=True) if "losses" in verdict}
    same = [losses(case, folder) == found for case, found in traced.items() if not case.resumed]
    infer = json.loads(sweep.noted("infer").read_text())
    totals = {
        "false_alarms": f"{sum(any(f['what'] not in struck for f in v['violated']) for v in unseen)} of {len(unseen)}",
        "false_alarms_before_striking_out": f"{sum(bool(v['violated']) for v in unseen)} of {len(unseen)}",
        **cost([v["cpu_s"] + v["check_cpu_s"] for v in verdicts], folder),
        "invariants": infer["invariants"],
        "struck_out": len(struck),
        "infer_cpu_s": round(infer["cpu_s"]),
        "healthy_traces": len(t.REFERENCE) + len(held) + len(unseen),
        "losses_as_without_tracing": f"{sum(same)} of {len(same)}",
        "trace_mb": round(statistics.median(v["bytes"] for v in verdicts) / 1e6, 1),
        "wall_s_a_trace": round(statistics.median(v["wall_s"] for v in verdicts)),
        "training_steps": twins.STEPS,
        "violations": {name: len(found) for name, found in told.items() if found},
        "only_by_order_of_calls": [name for name, found in told.items() if found and found[0]["relation"] in t.ORDER],
        "sample": f"{each} a layer, seed 0" if each else "all",
    }
    return totals, lines


def say(rival, text):
    print(f"{rival.NAME}: {text}"[:200], flush=True)


def show(result):
    table = Table("tool", "applies", "caught", "shown", "missed", "not run", "false alarms", "other healthy", "CPU s a run", "in steps")
    for name, t in result["tools"].items():
        counts = [str(t[key]) for key in ("applicable", "caught", "shown", "missed", "not run")]
        wrong = [t["false_alarms"], t.get("false_alarms_other_configurations", "")]
        table.add_row(f"{name} {t['version']}", *counts, *wrong, str(t["cpu_s_a_run"]), str(t["in_training_steps"]))
    Console().print(table)


if __name__ == "__main__":
    main()
