"""Every fault of the trainer's catalogue, and healthy set-ups by the dozen, asked by gradarbiter: into results/detection.json and docs/detection.md.

Careful to judge by `detection_expected.py`, which was written before the first run: caught is a fault whose own check accuses and names what it should; that
another check accuses too is in the table, and does not count. Every accusation of a healthy set-up is shown with its seed.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from fnmatch import fnmatchcase
from pathlib import Path

from rich.progress import track

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from arbiter_frameworks import LMS  # noqa: E402
from detection_expected import EXPECTED, UNSEEN  # noqa: E402

ROOT = HERE.parent
OUT, PAGE = ROOT / "results" / "detection.json", ROOT / "docs" / "detection.md"
COMMAND = "python3 noxfile.py -s detection"
SEEDS = 20
SHOWN = 3  # names a check; the run itself prints all


def fault(job):
    from detection_trainer import results_of

    name, folder = job
    before = cpu_s()
    results = results_of(name, folder)
    return {**judged(name, results), "cpu_s": round(cpu_s() - before, 2)}


def judged(name, results):
    from trainer.faults import CATALOGUE

    wanted = EXPECTED[name]
    found = {r.check: list(dict.fromkeys(f.parameter for f in r.accusations)) for r in results if r.accusations}
    named = [f for r in results for f in r.accusations if wanted and r.check == wanted[0] and fnmatchcase(f.parameter, wanted[1])]
    return {
        "fault": name,
        "layer": CATALOGUE[name].layer,
        "does": CATALOGUE[name].does,
        "check": wanted[0] if wanted else None,
        "caught": bool(named),
        "parameter": named[0].parameter if named else None,
        "says": f"{named[0].kind}: {named[0].text}" if named else None,
        "step": named[0].numbers.get("step") if named else None,
        "also": {check: names[:SHOWN] for check, names in found.items() if not (wanted and check == wanted[0])},
        "raised": {r.check: r.reason for r in results if r.status == "error"},
    }


def cpu_s():
    """Of this process and of those it has waited for (a resumed run is one)."""
    return sum(os.times()[:4])


def healthy(job):
    name, folder = job
    accused, answered, unasked = [], Counter(), Counter()
    for seed in range(SEEDS):
        for result in _healthy_results(name, seed, folder):
            (unasked if result.status == "not asked" else answered)[result.check] += 1
            if result.status in ("fail", "error"):
                accused.append({"seed": seed, "check": result.check, "says": says(result)})
    return {"configuration": name, "seeds": SEEDS, "accused": accused, "answered": dict(answered), "not_asked": dict(unasked)}


def says(result):
    return [*(f"{f.kind} {f.parameter}: {f.text}" for f in result.accusations), result.reason][0]


def _healthy_results(name, seed, folder):
    import arbiter_zoo
    import detection_trainer

    import gradarbiter

    if name in RUNS:
        return detection_trainer.results_of(None, folder, seed=seed, **RUNS[name])
    if name in FRAMEWORKS:
        return gradarbiter.check(**FRAMEWORKS[name](seed=seed), expect=gradarbiter.Expect(causal=True)).results
    return gradarbiter.check(**arbiter_zoo.ZOO[name](seed)).results


# Healthy runs of the trainer, which the run checks are asked of too; the situations are those that some faults need.
RUNS = {
    "run": {},
    "run, padded rows": {"situation": "padding"},
    "run, a zero embedding": {"situation": "zero embedding"},
    "run, tied head": {"options": {"head": "tied"}},
    "run, dropout": {"options": {"dropout": 0.3}},
    "run, AdamW": {"options": {"optimizer": "adamw", "weight_decay": 0.1}},
    "run, strong decay": {"options": {"weight_decay": 0.5}},
    "run, clipped": {"options": {"clip": 0.05}},
}

FRAMEWORKS = {f"the same model in {name}": made for name, made in LMS.items()}


def main(argv=None):
    parser = argparse.ArgumentParser(prog="nox -s detection --", description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", help="only faults and set-ups whose name has this in it; nothing is written")
    chosen = parser.parse_args(argv)
    from arbiter_zoo import ZOO

    from trainer import data, faults

    if unknown := faults.CATALOGUE.keys() ^ EXPECTED.keys():
        found = f"found:   {sorted(unknown)} in only one of catalogue and expectation"
        sys.exit(f"{found}\nwanted:  the same faults in both\ndo this: edit tests/detection_expected.py")
    with tempfile.TemporaryDirectory() as temporary:
        folder = data.sample(Path(temporary) / "sample", vocab=500)
        wanted = [(fault, name) for name in EXPECTED] + [(healthy, name) for name in (*RUNS, *ZOO, *FRAMEWORKS)]
        kept = Kept("detection")
        jobs = [(ask, (name, folder)) for ask, name in wanted if chosen.k in name and name not in kept.rows]
        with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"), max_workers=2) as pool:
            futures = {pool.submit(ask, job): job[0] for ask, job in jobs}
            for future in track(as_completed(futures), total=len(futures), description="asked"):
                kept.add(futures[future], future.result())
    rows = [kept.rows[name] for _, name in wanted if name in kept.rows and chosen.k in name]
    faulty, sound = [r for r in rows if "fault" in r], [r for r in rows if "configuration" in r]
    found = {"totals": totals(faulty, sound), "faults": faulty, "healthy": sound}
    for row in faulty:
        if not row["caught"]:
            print(f"not caught: {row['fault']} (by {row['check']}); others: {', '.join(row['also']) or 'none'}")
    for row in sound:
        for one in row["accused"]:
            print(f"accused: {row['configuration']} seed {one['seed']}: {one['check']}: {one['says']}")
    print(found["totals"])
    if not chosen.k:
        OUT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text("\n".join(page(found)) + "\n")
    return 0 if not found["totals"]["accused"] and found["totals"]["caught"] >= 0.95 * found["totals"]["faults"] else 3


class Kept:
    """Rows of this very text of checks, trainer and set-ups, so that a stopped run goes on, and a changed check is asked again."""

    def __init__(self, name):
        patterns = ("gradarbiter/**/*", "trainer/**/*", "tests/arbiter_*", "tests/detection*", f"tests/{name}*")
        sources = {path for pattern in patterns for path in ROOT.glob(f"{pattern}.py")}
        text = b"".join(path.read_bytes() for path in sorted(sources))
        self._path = ROOT / ".nox" / name / f"{hashlib.sha256(text).hexdigest()[:16]}.jsonl"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        self.rows = {kept["name"]: kept["row"] for kept in map(json.loads, lines)}

    def add(self, name, row):
        self.rows[name] = row
        with self._path.open("a") as file:
            file.write(json.dumps({"name": name, "row": row}) + "\n")


def totals(faulty, sound):
    return {
        "faults": len(faulty),
        "caught": sum(row["caught"] for row in faulty),
        "cpu_s_a_fault": statistics.median(row["cpu_s"] for row in faulty) if faulty else None,
        "healthy": len(sound),
        "healthy_runs": sum(row["seeds"] for row in sound),
        "accused": sum(len(row["accused"]) for row in sound),
        "answers": sum(sum(row["answered"].values()) for row in sound),
        "not_asked": sum(sum(row["not_asked"].values()) for row in sound),
    }


def page(found):
    t = found["totals"]
    yield "# What gradarbiter catches, and whom it accuses"
    yield ""
    yield f"Made by `{COMMAND}`; do not edit. The numbers behind it: [results/detection.json](../results/detection.json)."
    yield ""
    yield f"**{t['caught']} of {t['faults']} planted faults** are caught by the check that was named for them before the first run"
    yield "(`tests/detection_expected.py`), which has to name the right parameter too."
    yield f"**{t['accused']} accusations** of {t['healthy']} healthy set-ups over {t['healthy_runs']} runs (seeds 0 to {SEEDS - 1})."
    yield f"In those runs {t['answers']} checks gave an answer; {t['not_asked']} could not be asked, and clear nobody: the table names them."
    yield "Faults are planted in the reference trainer (`trainer/faults/`), one at a time, in a model of width 32. A check that accuses nobody"
    yield "here may still miss the same fault elsewhere: tests show errors, never their absence."
    yield ""
    yield "| fault | layer | what it does | caught by | names | says | others that accuse |"
    yield "|---|---|---|---|---|---|---|"
    for row in sorted(found["faults"], key=lambda r: r["caught"]):
        caught = row["check"] if row["caught"] else "**nothing**"
        cells = (
            row["fault"],
            row["layer"],
            row["does"],
            caught,
            row["parameter"] or "",
            row["says"] or UNSEEN.get(row["fault"], ""),
            ", ".join(row["also"]),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
    yield ""
    yield "| healthy set-up | seeds | accusations | checks that answered | not asked |"
    yield "|---|---|---|---|---|"
    for row in found["healthy"]:
        says = "; ".join(f"seed {one['seed']}: {one['check']}: {one['says']}" for one in row["accused"])
        yield f"| {row['configuration'].replace('_', ' ')} | {row['seeds']} | {says or 0} | {len(row['answered'])} | {', '.join(row['not_asked'])} |"


if __name__ == "__main__":
    sys.exit(main())
