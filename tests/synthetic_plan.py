"""What the synthetic run has and says: its columns, its cases, and the status of each square; careful to hold every status."""

from __future__ import annotations

COLUMNS = ["numpy-2.4.6", "torch-2.15.0", "jax-0.10.2", "mlx-0.32.4", "candle-0.11.0", "candle-0.11.1", "burn-0.20.1", "burn-0.21.0"]
DTYPES = {"numpy": ["float64", "float32"], "burn": ["float64", "float32"]}
ITEMS = [
    "linear_of_transposed",
    "matmul_broadcast_left",
    "conv1d_weight",
    "conv_transpose1d",
    "sum_of_slice",
    "softmax_of_view",
    "embedding_of_strided_ids",
    "cat_of_views",
]
CANDLE, BURN = ("candle-0.11.0", "candle-0.11.1"), ("burn-0.20.1", "burn-0.21.0")
# (row, columns, variant, dtypes or () for all) -> status; the first that matches holds, everything else is ok
PLAN = [
    ("rms_norm_backward", CANDLE, "composed", (), "ok"),
    ("rms_norm_backward", CANDLE, "", (), "silent"),
    ("rms_norm_backward", ("burn-0.20.1",), "", ("float64",), "unstable"),
    ("rope_axis", BURN, "", (), "silent"),
    ("rope_axis", ("mlx-0.32.4",), "", (), "differs"),
    ("rope_axis", ("torch-2.15.0",), "", (), "absent"),
    ("rope_axis", ("jax-0.10.2",), "", (), "untested"),
    ("layout_mismatch:linear_of_transposed", CANDLE, "", (), "silent"),
    ("layout_mismatch:matmul_broadcast_left", ("candle-0.11.0",), "", (), "silent"),
    ("layout_mismatch:conv1d_weight", CANDLE, "", (), "silent"),
    ("layout_mismatch:conv_transpose1d", ("candle-0.11.0",), "", (), "silent"),
    ("layout_mismatch:softmax_of_view", BURN, "", (), "loud"),
    ("layout_mismatch:embedding_of_strided_ids", ("mlx-0.32.4",), "", (), "crash"),
    ("layout_mismatch:embedding_of_strided_ids", ("candle-0.11.0",), "", (), "loud"),
    ("layout_mismatch:cat_of_views", ("jax-0.10.2",), "", ("float64",), "error"),
    ("low_precision_sum", ("torch-2.15.0",), "", ("bfloat16",), "silent"),
    ("low_precision_sum", CANDLE, "", ("bfloat16", "float16"), "silent"),
    ("low_precision_sum", ("mlx-0.32.4",), "", ("float64",), "loud"),
    ("muon_dimensionality", ("candle-0.11.0", "candle-0.11.1", "numpy-2.4.6"), "", (), "absent"),
    ("muon_dimensionality", BURN, "", (), "loud"),
    ("muon_dimensionality", ("jax-0.10.2",), "", ("float32",), "hang"),
    ("slow_backward", BURN, "", (), "slow"),
    ("slow_backward", ("candle-0.11.0",), "", (), "silent"),
]
MESSAGES = {
    "crash": "died by SIGSEGV",
    "hang": "no answer within 60 s",
    "unstable": "fails 3 of 10 runs (Wilson 95 %: 0.11 to 0.60)",
    "loud": "RuntimeError: Muon requires 2D tensors, got 3D",
    "absent": "no torch.nn.functional.rope (looked for torch.nn.functional.rope)",
    "untested": "no run file yet",
    "error": "found: no python3.12; wanted: the interpreter of this pin",
    "differs": "half-split layout (documented)",
    "slow": "backward/forward: got 41.2, want at most 6.1",
}
CASES = {
    "rms_norm_backward": ("missing-gradient", "RMSNorm's backward reaches the input and the weight", ["float64", "float32"]),
    "rope_axis": (
        "axis",
        "Rotary embedding turns each head by its position in the sequence, not by its head index",
        ["float64", "float32"],
    ),
    "layout_mismatch": (
        "layout",
        "An operation on a view that is not contiguous equals the same operation on its copy",
        ["float64", "float32"],
    ),
    "low_precision_sum": (
        "low-precision",
        "A sum of 4096 ones in a low-precision type is 4096",
        ["float64", "float32", "float16", "bfloat16"],
    ),
    "muon_dimensionality": ("optimizer", "Muon leaves tensors that are not matrices alone or refuses them", ["float64", "float32"]),
    "slow_backward": ("speed", "The backward of a block costs about twice its forward, at a fair share of the machine's peak", ["float32"]),
}
