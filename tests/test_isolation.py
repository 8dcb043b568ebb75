"""Every way a cell can end, told by fakes: exactly its status, within its limit, and no process left."""

import contextlib
import os
import threading
import time
from pathlib import Path

import pytest

from harness import record
from harness.watch import descendants

# variant -> status, cause, part of the message, failed checks
ENDS = {
    "": ("ok", None, "", set()),
    "lost_gradient": ("silent", None, "no gradient", {"dw present"}),
    "none_gradient": ("silent", None, "no gradient", {"dx present"}),
    "swapped_axis": ("silent", None, "dx close", {"dx close"}),
    "nan": ("silent", None, "got nan", {"dx close"}),
    "wrong_shape": ("silent", None, "dw shape: got (3, 4), want (4,)", {"dw shape"}),
    "segfault": ("crash", None, "SIGSEGV", set()),
    "abort": ("crash", None, "SIGABRT", set()),
    "own_handler": ("crash", None, "SIGBUS", set()),
    "exits": ("crash", None, "exit status 3", set()),
    "closes_pipe": ("crash", None, "before it answered", set()),
    "eats_memory": ("crash", None, "memory cap", set()),
    "hang": ("hang", None, "within 2 s", set()),
    "ignores_sigterm": ("hang", None, "within 2 s", set()),
    "noise_forever": ("hang", None, "within 2 s", set()),
    "escapes_and_hangs": ("hang", None, "within 2 s", set()),
    "wants_float32": ("ok", None, "", set()),
    "noise": ("ok", None, "", set()),
    "escapes": ("ok", None, "", set()),
    "refuses": ("loud", None, "ValueError: cannot reshape", set()),
    "no_such_name": ("absent", None, "no attribute 'rms_norm'", set()),
    "no_such_module": ("absent", None, "numpy.optim", set()),
    "typing_error": ("error", "harness", "NameError", set()),
    "no_compiler": ("error", "toolchain", "g++ not found", set()),
    "other_arguments": ("error", "harness", "got an unexpected keyword argument 'dy'", set()),
    "own_table": ("error", "harness", "KeyError", set()),
    "says_exit": ("crash", None, "ended the process", set()),
    "closes_stdout": ("ok", None, "", set()),
    "unprintable": ("loud", None, "cannot be printed", set()),
    "one_big_allocation": ("crash", None, "memory cap", set()),
    "broken_part": ("error", "install", "libsomething", set()),
    "not_a_dict": ("error", "harness", "wanted a dict", set()),
    "wrong_name": ("error", "harness", "answers dX", set()),
    "broken_file": ("error", "harness", "answer file cannot be read", set()),
    "garbles_pipe": ("error", "harness", "cannot be read", set()),
}


def serving(project):
    """Every process of this test, wherever it hangs in the tree: its command line, inherited by forks, names the project's folder."""
    found = set()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(project.root).encode() in line.read_bytes() and alive(int(line.parent.name)):
                found.add(int(line.parent.name))
    return found


def test_every_fake_is_told(fake_cells):
    assert set(fake_cells) == set(ENDS)


@pytest.mark.parametrize("how", ["forked", "spawned"])
@pytest.mark.parametrize("variant", ENDS)
def test_end(variant, how, asker, fake_cells, monkeypatch):
    if how == "spawned":
        call = type(asker)._call
        plan = {"functions": ["run"], "warm_up_s": 0.0, "calls": 1}
        monkeypatch.setattr(type(asker), "_extra", lambda self, cell: {})  # a timed cell is spawned: the same ends, by the other way in
        monkeypatch.setattr(type(asker), "_call", lambda self, cell, environment, _: call(self, cell, environment, plan))
    status, cause, words, failed = ENDS[variant]
    cell = fake_cells[variant]
    start = time.monotonic()
    answer = asker.ask(cell)
    assert time.monotonic() - start < cell.spec.case.limit_s + 5
    record.validate(answer)
    assert (answer["status"], answer["cause"]) == (status, cause), answer
    assert words in answer["message"]
    assert {c["check"] for c in answer["checks"] if not c["holds"]} == failed
    assert asker.ask(fake_cells[""])["status"] == "ok", "the worker answers the next cell"
    workers = {w._process.pid for w in asker.ever}
    assert set(descendants(os.getpid())) == workers, "only the warm worker is left"
    assert serving(asker.project) == workers, "and nothing that escaped it"
    assert asker.ever[-1]._process.poll() is None


def test_a_message_is_one_line(asker, fake_cells):
    answer = asker.ask(fake_cells["no_compiler"])
    assert answer["message"] == "WrappedError: NoCompiler: g++ not found"
    assert "Set SOMETHING=1" in answer["log"]


def test_a_fork_is_used_where_it_is_safe(asker, fake_cells):
    assert asker.ask(fake_cells[""])["environment"]["forked"] is True


def test_an_adapter_may_ask_for_a_process_of_its_own(asker, fakes, fake_cells):
    adapter = fakes.frameworks / "fake" / "adapter.py"
    adapter.write_text(adapter.read_text() + "\n\nSPAWN = True\n")
    answer = asker.ask(fake_cells[""])
    assert (answer["status"], answer["environment"]["forked"]) == ("ok", False)


def test_noise_is_evidence_and_bounded(asker, fake_cells):
    log = asker.ask(fake_cells["noise_forever"])["log"]
    assert "noise noise" in log
    assert len(log) <= 700


def test_a_hang_leaves_its_stack(asker, fake_cells):
    assert "run_fake.hang.py" in asker.ask(fake_cells["hang"])["log"]


def test_a_killed_worker_is_our_error_and_replaced(asker, fake_cells):
    asker.ask(fake_cells[""])
    os.kill(asker.ever[-1]._process.pid, 9)
    time.sleep(0.1)
    answer = asker.ask(fake_cells[""])
    assert (answer["status"], answer["cause"]) == ("error", "harness")
    assert asker.ask(fake_cells[""])["status"] == "ok"


def test_a_framework_that_cannot_be_imported_is_an_install_error(asker, fake_cells, fakes):
    (fakes.frameworks / "fake" / "adapter.py").write_text("import no_such_framework\n")
    answer = asker.ask(fake_cells[""])
    assert (answer["status"], answer["cause"]) == ("error", "install")
    assert "no_such_framework" in answer["message"]


def test_leaving_the_asker_leaves_nothing(fakes, fake_cells):
    from harness.ask import Asker

    with Asker(fakes, run="test") as asker:
        asker.ask(fake_cells["escapes"])
        folder = asker.folder
    assert descendants(os.getpid()) == []
    assert not folder.exists()


def test_a_child_dies_with_its_worker(asker, fake_cells):
    asked = threading.Thread(target=asker.ask, args=[fake_cells["hang"]])
    asked.start()
    deadline = time.monotonic() + 10
    while not (asker.ever and asker.ever[-1]._process and descendants(asker.ever[-1]._process.pid)) and time.monotonic() < deadline:
        time.sleep(0.01)
    worker = asker.ever[-1]._process.pid
    (child,) = descendants(worker)
    os.kill(worker, 9)
    asked.join()
    deadline = time.monotonic() + 1
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(child)


def alive(pid):
    """Dead is also who waits to be reaped by a lazy init."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_parent_with_a_second_thread_does_not_fork(asker, fake_cells, fakes):
    adapter = fakes.frameworks / "fake" / "adapter.py"
    adapter.write_text(
        adapter.read_text() + "\nimport threading, time\nthreading.Thread(target=time.sleep, args=[60], daemon=True).start()\n"
    )
    answer = asker.ask(fake_cells[""])
    assert (answer["status"], answer["environment"]["forked"]) == ("ok", False)


def test_a_cell_sees_a_scrubbed_environment(asker, fake_cells, monkeypatch):
    monkeypatch.setenv("SECRET", "of the caller")
    facts = asker.ask(fake_cells[""])["environment"]["facts"]
    assert (facts["leaked"], facts["threads"], facts["hash_seed"]) == ("", ["1"], "0")
