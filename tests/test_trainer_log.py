"""The record of a run and what it says of speed."""

import json
import math
import sys
import types

import pytest

torch = pytest.importorskip("torch")

from trainer import config, log, speed  # noqa: E402

pytestmark = pytest.mark.trainer


def test_reopened_at_a_step_it_drops_what_will_be_done_again(tmp_path):
    path = tmp_path / "run" / "log.jsonl"
    with log.StepLog(path, step=0) as first:
        first.write("start", from_step=0)
        for step in range(5):
            first.step(step, 3.0 - step)
    with path.open("a") as file:
        file.write('{"event": "step", "ste')  # killed while writing
    with log.StepLog(path, step=3) as second:
        second.step(3, 0.5)
    lines = log.read(path)
    assert [line.get("step") for line in lines] == [None, 0, 1, 2, 3]
    assert lines[-1]["loss"] == float.fromhex(lines[-1]["loss_hex"]) == 0.5


def test_what_is_not_finite_is_valid_json_and_stays_visible(tmp_path):
    with log.StepLog(tmp_path / "log", step=0) as opened:
        opened.step(0, math.nan, gradient_norm=math.inf, low=-math.inf)
    line = json.loads((tmp_path / "log").read_text(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert (line["loss"], line["gradient_norm"], line["low"]) == ("nan", "inf", "-inf")
    assert math.isnan(log.read(tmp_path / "log")[0]["loss"])


def test_a_divergence_is_said_once_and_again_after_it_came_back():
    watch = log.Watch()
    said = [(i, watch.see(loss)) for i, loss in enumerate([2.0] * 30 + [9.0] * 30 + [2.0] * 30 + [9.0] * 5)]
    found = [i for i, text in said if text]
    # one nat above the lowest mean of 20 takes three losses of 9: 3 x 7 / 20 = 1.05
    assert found == [32, 92]
    assert said[32][1] == "mean loss of 20 steps is 3.050, its lowest was 2.000"


def test_noise_and_skipped_steps_are_no_divergence():
    watch = log.Watch()
    assert not any(watch.see(loss) for loss in [3.0, 2.5, 3.4] * 20 + [math.nan, math.inf] * 20)


def test_a_divergence_goes_into_the_log_also_across_a_resume(tmp_path):
    with log.StepLog(tmp_path / "log", step=0) as opened:
        for step in range(25):
            opened.step(step, 2.0)
    with log.StepLog(tmp_path / "log", step=25) as opened:
        for step in range(25, 30):
            opened.step(step, 9.0)
    assert [line["step"] for line in log.read(tmp_path / "log") if line["event"] == "divergence"] == [27]


def test_a_line_is_on_its_way_to_the_disk_when_it_is_written(tmp_path):
    """Else a killed run's log would end before its last checkpoint: a gap that the resumed run cannot fill."""
    with log.StepLog(tmp_path / "log", step=0) as opened:
        opened.step(0, 1.0)
        assert [line["step"] for line in log.read(tmp_path / "log")] == [0]


def test_without_a_path_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with log.StepLog(None, step=0) as opened:
        opened.step(0, 1.0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("length", "window", "mean"), [(2048, 2048, 1024.5), (2048, 1024, 768.25), (512, 128, 112.125), (10, 99, 5.5), (4, 1, 1.0)]
)
def test_mean_context_is_the_average_of_the_keys_a_query_sees(length, window, mean):
    assert speed.mean_context(length, window) == pytest.approx(mean)
    assert mean == pytest.approx(sum(min(i + 1, window) for i in range(length)) / length)


def test_the_three_definitions_by_hand():
    c = config.tiny(vocab_size=4000)
    matrices = 4 * (384 * 384 * 2 + 2 * 384 * 128 + 3 * 384 * 1024)
    found = speed.work(c)
    assert found.palm == 6 * (matrices + 384 * 4000) + 12 * 4 * 384 * 512
    assert found.useful == 6 * (matrices + 384 * 4000) + 12 * 4 * 384 * 112.125
    assert found.hfu == 6 * (matrices + 384 * 4096) + 12 * 4 * 384 * 160  # blocks of 32 queries see 32 + 128 keys
    gpu = speed.work(config.tiny(vocab_size=4000, device="cuda"))
    assert gpu.hfu == 6 * (matrices + 384 * 4096) + 14 * 4 * 384 * 256  # FlexAttention: blocks of 128, scores computed twice
    assert (gpu.palm, gpu.useful) == (found.palm, found.useful)


def test_matmul_parameters_are_those_of_the_model():
    from trainer.model import LM

    c = config.nano(vocab_size=128)
    built = LM(c)
    counted = sum(p.numel() for name, p in built.named_parameters() if built.roles()[name] in ("matrix", "head"))
    assert speed.work(c).useful - 12 * c.layers * c.width * speed.mean_context(c.length, c.window) == 6 * counted


def test_mfu_and_price_of_the_paper():
    """Its own numbers: 1.99e9 tokens in 54.6 hours at 3 dollars are 82 dollars a billion, and 2.6 % of an H100 by 6 x parameters alone."""
    meter = speed.Meter(config.paper(device="cpu", peak_tflops=989.4), world=1)
    seconds = 54.6 * 3600 / 7600
    found = meter.step(2**18, seconds)
    assert found["tokens_per_s"] == pytest.approx(10_136, rel=1e-3)
    assert found["dollars_per_billion_tokens"] == pytest.approx(82.2, rel=1e-2)
    assert 6 * 0.43e9 * found["tokens_per_s"] / 989.4e12 == pytest.approx(0.026, abs=5e-4)
    assert found["mfu_useful"] < found["mfu_palm"] < 0.03
    two = speed.Meter(config.paper(device="cpu", peak_tflops=989.4), world=2).step(2**18, seconds)
    assert two["mfu_useful"] == pytest.approx(found["mfu_useful"] / 2)


def test_an_unknown_peak_shows_no_mfu_and_says_so():
    meter = speed.Meter(config.nano(vocab_size=99), world=1)
    assert meter.step(10, 0.1)["mfu_useful"] is None
    assert "give --peak_tflops" in str(meter.peak)
    meter.step(10, 0.2)
    assert meter.summary().startswith("50 tokens/s; $")


def test_a_measured_peak_is_that_of_the_fastest_product(monkeypatch):
    ticks = iter([0.0, 0.1, 1.0, 1.5, 1.6, 2.0, 2.2, 99.0])  # the end is 0.5 s after the first; products of 0.5 and then of 0.2 seconds
    monkeypatch.setattr(speed.time, "perf_counter", lambda: next(ticks))
    before = torch.get_rng_state()
    peak = speed.peak(config.nano(vocab_size=99, measure_peak=True))
    assert peak.tflops == pytest.approx(2 * 2048**3 / 0.5 / 1e12)
    assert "measured here" in peak.source
    assert torch.equal(torch.get_rng_state(), before)  # measuring must not change what the run drops


class Nvml:
    """As much of pynvml as is used; ``broken`` names what fails."""

    NVML_CLOCK_SM = 1

    def __init__(self, broken):
        values = {"Init": None, "DeviceGetHandleByUUID": "handle", "DeviceGetPowerUsage": 512_345, "DeviceGetClockInfo": 1830}
        for name, value in values.items():
            setattr(self, f"nvml{name}", self.answering(name, value, broken))

    def answering(self, name, value, broken):
        def answer(*asked):
            if name == broken:
                raise RuntimeError(f"{name}: not supported")
            assert asked == {"DeviceGetHandleByUUID": ("GPU-1234",), "DeviceGetClockInfo": ("handle", 1)}.get(name, asked)
            return value

        return answer


@pytest.mark.parametrize("broken", ["", "Init", "DeviceGetHandleByUUID", "DeviceGetPowerUsage", "pynvml"])
def test_power_and_clock_are_nvmls_and_a_run_does_not_need_them(monkeypatch, broken):
    monkeypatch.setitem(sys.modules, "pynvml", None if broken == "pynvml" else Nvml(broken))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H100 80GB HBM3")
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _device: types.SimpleNamespace(uuid="1234"))
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 7 * 2**30)
    meter = speed.Meter(config.paper(), world=1)
    found = [meter.step(2**18, 2.0) for _ in range(2)][1]
    assert found["memory_bytes"] == 7 * 2**30
    assert "7.0 GiB" in meter.summary()
    if broken:
        assert "power_w" not in found
        assert broken in meter.facts()["no_power_and_clock"]
    else:
        assert (found["power_w"], found["sm_mhz"]) == (512.345, 1830)
        assert meter.facts()["no_power_and_clock"] is None
        nvml = sys.modules["pynvml"]
        nvml.nvmlDeviceGetClockInfo = nvml.answering("DeviceGetClockInfo", 0, "DeviceGetClockInfo")  # lost in the middle of a run
        assert "power_w" not in meter.step(2**18, 2.0)


@pytest.mark.parametrize(
    ("name", "tflops"),
    [
        ("NVIDIA H100 80GB HBM3", 989.4),
        ("NVIDIA H100 PCIe", 756.0),
        ("NVIDIA H100 NVL", 835.0),
        ("NVIDIA H200", 989.4),
        ("NVIDIA H200 NVL", 835.0),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),  # an eighth of one: by the whole one's peak its MFU would be an eighth
        ("NVIDIA A100-SXM4-80GB", 312.0),
    ],
)
def test_a_gpu_is_known_by_its_name_and_an_unknown_one_is_not_guessed(monkeypatch, name, tflops):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: name)
    assert speed.peak(config.nano(vocab_size=99, device="cuda")).tflops == tflops
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA B9000")
    assert speed.peak(config.nano(vocab_size=99, device="cuda")).tflops is None
