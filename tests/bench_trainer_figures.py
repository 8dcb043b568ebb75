"""From CPU seconds to figures with a lower bound; careful that only measurements of the same round are compared, and that noise cannot hold a bar."""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass

ROUNDS = 10
T95 = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833)  # Student's t, one-sided 95 %, for 2 ... 10 rounds


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Speed of variant ``over`` by that of ``under``; a ``_compiled`` figure may hold the bar of the same name without it."""

    over: str
    under: str
    bar: float | None = None
    goal: float | None = None


WANTED = {
    "hf_ratio": Wanted(over="ours", under="hf", bar=1.15, goal=1.25),
    "hf_ratio_compiled": Wanted(over="ours_compiled", under="hf", bar=1.15, goal=1.25),
    "nanogpt_ratio": Wanted(over="ours", under="nanogpt", bar=1.1),
    "nanogpt_ratio_compiled": Wanted(over="ours_compiled", under="nanogpt", bar=1.1),
    "gemm_share_useful": Wanted(over="ours", under="gemm", bar=0.55, goal=0.62),
    "gemm_share_useful_compiled": Wanted(over="ours_compiled", under="gemm", bar=0.55, goal=0.62),
    "full_window_ratio": Wanted(over="ours_full", under="hf", bar=1.0),
    "muon_ratio": Wanted(over="ours_muon", under="hf_adamw_16k", bar=1.1),
    "muon_ratio_compiled": Wanted(over="ours_muon_compiled", under="hf_adamw_16k", bar=1.1),
    "hf_pure_bf16_ratio": Wanted(over="ours", under="hf_pure_bf16"),
}


@dataclass(frozen=True, kw_only=True)
class Figure:
    value: float  # geometric mean over the rounds
    lower: float  # one-sided 95 %
    bar: float | None
    goal: float | None
    held: bool | None  # the lower bound reaches the bar; None: there is none
    n: int
    per_round: list[float]


def figures(rounds):
    """``rounds`` is a list of variant -> what it measured."""
    return {name: asdict(figure(wanted, [ratio(wanted, measured) for measured in rounds])) for name, wanted in WANTED.items()}


def figure(wanted: Wanted, ratios) -> Figure:
    logs = [math.log(r) for r in ratios]
    mean = statistics.fmean(logs)
    lower = math.exp(mean - T95[len(logs) - 2] * statistics.stdev(logs) / math.sqrt(len(logs)))
    held = None if wanted.bar is None else lower >= wanted.bar
    rounded = [round(r, 4) for r in ratios]
    return Figure(
        value=round(math.exp(mean), 4), lower=round(lower, 4), bar=wanted.bar, goal=wanted.goal, held=held, n=len(logs), per_round=rounded
    )


def ratio(wanted: Wanted, measured) -> float:
    over, under = measured[wanted.over], measured[wanted.under]
    if wanted.under == "gemm":
        peak = under["flop_per_step"] / min(under["cpu_s"])  # the best product, where all else counts with its median
        return over["useful_flop_per_token"] * rate(over) / peak
    return rate(over) / rate(under)


def rate(measured) -> float:
    """Tokens a CPU second of the median step."""
    return measured["tokens_per_step"] / statistics.median(measured["cpu_s"])


def bars(found):
    """Bar -> the figures that hold it: the eager one, the compiled one, both or none."""
    names = [name for name, wanted in WANTED.items() if wanted.bar is not None and not name.endswith("_compiled")]
    return {name: [key for key in (name, f"{name}_compiled") if key in found and found[key]["held"]] for name in names}
