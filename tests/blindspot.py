"""The loss that falls anyway: for every fault of the catalogue, would the loss curve have told, and what did gradarbiter say? Into results/blindspot.json.

The rule is `blindspot_rule.py`. A faulty run has the tokens, in the same order, of its twenty healthy twins; only first weights differ among those. A fault of
resuming is a run that is stopped in the middle and resumed; of a tokenizer, a run on the same text made into tokens by the faulty one.
"""

import json
import multiprocessing
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import accumulate
from pathlib import Path

from rich.progress import track

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import blindspot_candle  # noqa: E402
import blindspot_rule as rule  # noqa: E402
from detection import ROOT, Kept, judged, says  # noqa: E402

OUT = ROOT / "results" / "blindspot.json"
SEED = 1  # of a faulty run, and of all tokens; not 0, so that a seed that is ignored shows
BAND = range(2, 2 + rule.HEALTHY)
UNSEEN = range(BAND.stop, BAND.stop + rule.HEALTHY)  # healthy runs that the rule is tried on
DRAWN = 5  # every fifth step is kept for the page
PLAIN = ("", ())


def main():
    from trainer import data, faults

    with tempfile.TemporaryDirectory() as temporary:
        folder = data.sample(Path(temporary) / "sample", vocab=500)
        asked = {f"fault {name}": (faulty, name) for name in faults.CATALOGUE}
        asked |= {f"healthy {seed} {setting}": (healthy, setting, seed) for setting in settings() for seed in (SEED, *BAND)}
        asked |= {f"unseen {seed}": (healthy, PLAIN, seed) for seed in UNSEEN} | {f"asked {seed}": (accused, seed) for seed in BAND}
        kept = Kept("blindspot")
        with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"), max_workers=2) as pool:
            futures = {pool.submit(*job, folder): name for name, job in asked.items() if name not in kept.rows}
            for future in track(as_completed(futures), total=len(futures), description="trained"):
                kept.add(futures[future], future.result())
    found = result(kept.rows) | {"candle": blindspot_candle.shown()}
    OUT.write_text(json.dumps(found, ensure_ascii=False) + "\n")
    print(found["totals"])
    return 0 if not found["totals"]["healthy_accused"] else 3


def settings():
    """What healthy twins are needed for; a damaged checkpoint is passed over by a healthy run, which ends as one that was not stopped."""
    from trainer import faults

    return dict.fromkeys([PLAIN, *(setting_of(fault) for fault in faults.CATALOGUE.values())])


def setting_of(fault):
    return (fault.situation if fault.situation != "flipped byte" else "", tuple(fault.options.items()))


def nano(**options):
    """Over the small shape of `trainer.faults.twin`: the preset's own."""
    from trainer import config
    from trainer.faults import twin

    preset = config.nano()
    shape = {name: getattr(preset, name) for name in ("width", "ffn", "length", "window", "batch", "warmup")}
    assert twin.SMALL.keys() <= shape.keys() | {"steps", "seed", "progress", "out"}
    return {**shape, **options}


def healthy(setting, seed, folder):
    situation, options = setting
    return losses(folder, situation=situation, options=options, seed=seed)


def faulty(name, folder):
    from detection_trainer import results_of

    from trainer import data, faults

    fault = faults.CATALOGUE[name]
    with faults.plant(name), tempfile.TemporaryDirectory() as own:
        read = data.sample(Path(own) / "sample", vocab=500) if fault.shows_in == "tokenizer" else folder
        shown = losses(read, situation=fault.situation, options=fault.options, resumed=fault.layer == "resume")
    return {"losses": shown, **judged(name, results_of(name, folder, options=nano()))}


def accused(seed, folder):
    from detection_trainer import results_of

    return [f"{r.check}: {says(r)}" for r in results_of(None, folder, seed=seed, options=nano()) if r.status in ("fail", "error")]


def losses(folder, *, situation, options, seed=SEED, resumed=False):
    """Of one run, nats a token, before each step; what a resumed run does again replaces what was done before, and a step that it leaves out is not drawn."""
    from trainer import device
    from trainer.faults.twin import Twin

    twin = Twin(folder=folder, situation=situation, options=nano(**dict(options), seed=seed, steps=rule.STEPS, held_out_every=0))
    with device.entered(twin.config) as place, tempfile.TemporaryDirectory() as root:
        run = same_tokens(twin.begin(place))
        twin.steps(run, rule.STEPS // 2 if resumed else rule.STEPS, saved=saving(Path(root)) if resumed else lambda _: None)
        shown = {outcome.step: outcome.loss for outcome in run.outcomes}
        if resumed:
            damage(situation, Path(root))
            run = same_tokens(twin.resumed(place, Path(root)))
            twin.steps(run, rule.STEPS)
            shown |= {outcome.step: outcome.loss for outcome in run.outcomes}
    return list(accumulate(range(rule.STEPS), lambda last, step: shown.get(step, last), initial=shown[0]))[1:]


def same_tokens(run):
    """The tokens of SEED, whatever the seed of the weights."""

    class Same:
        def __getattr__(self, name):
            return getattr(tokens, name)

        def batch(self, step, *, seed, **shape):
            return tokens.batch(step, seed=SEED + seed - run.config.seed, **shape)

    tokens = run.tokens
    run.tokens = Same()
    return run


def saving(root):
    from detection_trainer import save

    return lambda run: save(run, root) if run.step in (rule.STEPS // 2 - 1, rule.STEPS // 2) else None


def damage(situation, root):
    from trainer import store
    from trainer.faults import twin

    if situation == "flipped byte":
        twin._flip(store.folders(root)[0] / "weights.safetensors")


def result(rows):
    from trainer import faults

    bands = {setting: [rows[f"healthy {seed} {setting}"] for seed in BAND] for setting in settings()}
    shown = [fault_row(faults.CATALOGUE[name], rows, bands) for name in faults.CATALOGUE]
    accusations = {seed: rows[f"asked {seed}"] for seed in BAND if rows[f"asked {seed}"]}
    return {
        "rule": {name.lower(): getattr(rule, name) for name in ("SMOOTHING", "SIGMAS", "SHARE", "HEALTHY", "STEPS")},
        "totals": {
            "faults": len(shown),
            "curve_told": sum(row["told"] for row in shown),
            "same_to_the_bit": sum(row["same"] for row in shown),
            "caught": sum(row["caught"] for row in shown),
            "healthy_accused": len(accusations),
            "curve_accused": sum(rule.told(rows[f"unseen {seed}"], bands[PLAIN]) for seed in UNSEEN),
            "healthy": rule.HEALTHY,
        },
        "accusations": accusations,
        "steps": list(range(0, rule.STEPS, DRAWN)),
        "bands": [band_row(setting, of) for setting, of in bands.items()],
        "faults": sorted(shown, key=lambda row: -row["outside"]),
    }


def fault_row(fault, rows, bands):
    from gradarbiter import checks

    row, setting = dict(rows[f"fault {fault.name}"]), setting_of(fault)
    losses, twin = row.pop("losses"), rows[f"healthy {SEED} {setting}"]
    if row["step"] is not None or row["check"] in checks.ORDER:
        row["step"] = int(row["step"] or 0)  # 0: asked before the first step. A check of whole runs has no step of this one
    return {
        **{key: row[key] for key in ("fault", "layer", "does", "caught", "check", "parameter", "step", "says")},
        "band": list(bands).index(setting),
        "outside": round(rule.outside(losses, bands[setting]), 3),
        "told": rule.told(losses, bands[setting]),
        "same": losses == twin,
        "last": drawn([sum(of[-10:]) / 10 for of in (losses, twin)]),
        "curve": drawn(rule.smoothed(losses)[::DRAWN]),
    }


def band_row(setting, losses):
    mean, deviation = rule.band(losses)
    situation, options = setting
    return {"situation": situation, "options": dict(options), "mean": drawn(mean[::DRAWN]), "sd": drawn(deviation[::DRAWN])}


def drawn(numbers):
    """Rounded, for the page; JSON has no NaN."""
    return [round(float(x), 4) if abs(x) < float("inf") else None for x in numbers]


if __name__ == "__main__":
    sys.exit(main())
