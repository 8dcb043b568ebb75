"""Crash safety without torch: killed after every step of a write, and every damaged byte found."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from trainer import store

pytestmark = pytest.mark.trainer
ROOT = Path(__file__).resolve().parent.parent
OLD, OLDER = {"a": bytes(range(200)), "b": b"old b"}, {"a": bytes(range(50, 250)), "b": b"older b"}
NEW = {"a": bytes(range(256)), "b": b"new b"}
KILLED = """
import os, signal, sys
from pathlib import Path
from trainer import store
left = [int(sys.argv[2])]
def stage(_):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
store.write(Path(sys.argv[1]), 30, {"a": bytes(range(256)), "b": b"new b"}, keep=2, stage=stage)
"""


def nothing(_):
    raise AssertionError("a damaged folder was seen")


def two_saves(root):
    store.write(root, 10, OLDER, keep=2)
    store.write(root, 20, OLD, keep=2)


def stages(root):
    found = []
    two_saves(root)
    store.write(root, 30, NEW, keep=2, stage=found.append)
    return found


def test_a_write_is_read_back_and_the_oldest_go(tmp_path):
    two_saves(tmp_path)
    store.write(tmp_path, 30, NEW, keep=2)
    assert [p.name for p in store.folders(tmp_path)] == ["save_000003_step_00000030", "save_000002_step_00000020"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["save_000002_step_00000020", "save_000003_step_00000030"]
    assert store.newest(tmp_path, nothing) == (tmp_path / "save_000003_step_00000030", NEW)


def test_the_stages_cover_every_step_of_a_write(tmp_path):
    assert stages(tmp_path) == [
        "cleaned",
        "made",
        *("a half written", "a written", "b half written", "b written", "MANIFEST half written", "MANIFEST written"),
        *("folder synced", "renamed", "parent synced", "hidden", "removed"),
    ]


@pytest.mark.parametrize("before", [0, 2])
def test_killed_between_any_two_steps_a_good_one_is_there(tmp_path, before):
    names = stages(tmp_path / "count")
    for i, name in enumerate(names[: None if before else -2]):
        root = tmp_path / str(i)
        if before:
            two_saves(root)
        run = subprocess.run([sys.executable, "-c", KILLED, root, str(i)], cwd=ROOT, check=False)
        assert run.returncode == -9
        found = store.newest(root, nothing)
        renamed = i >= names.index("renamed")
        wanted = NEW if renamed else (OLD if before else None)
        assert (found and found[1]) == wanted, name
        store.write(root, 40, NEW, keep=2)  # and the next write works, and leaves no litter
        assert {p.name[:5] for p in root.iterdir()} == {"save_"}, name
        assert store.newest(root, nothing)[1] == NEW
        assert len(store.folders(root)) <= 2


def test_data_is_on_disk_before_its_name_and_removal_comes_last(tmp_path, monkeypatch):
    """A power cut, unlike a kill, loses what was not fsynced: the order of the calls is the property."""
    done = []
    fsync, rename, rmtree = os.fsync, Path.rename, store.shutil.rmtree
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append(("fsync", Path(f"/proc/self/fd/{fd}").readlink().name)), fsync(fd))[1])
    monkeypatch.setattr(Path, "rename", lambda self, to: (done.append(("rename", Path(to).name)), rename(self, to))[1])
    monkeypatch.setattr(store.shutil, "rmtree", lambda path: (done.append(("remove", path.name)), rmtree(path))[1])
    root = tmp_path / "new" / "checkpoints"
    two_saves(root)
    assert done[:2] == [("fsync", "new"), ("fsync", tmp_path.name)]  # the folders made on the way
    done.clear()
    store.write(root, 30, NEW, keep=2)
    temporary = f".writing-{os.getpid()}"
    assert done == [
        *(("fsync", name) for name in ("a", "b", "MANIFEST", temporary)),
        ("rename", "save_000003_step_00000030"),
        ("fsync", "checkpoints"),
        ("rename", ".removing-save_000001_step_00000010"),
        ("remove", ".removing-save_000001_step_00000010"),
    ]


def test_every_flipped_bit_of_every_file_is_found(tmp_path):
    good = store.write(tmp_path, 1, NEW, keep=1)
    for path in sorted(good.iterdir()):
        data = path.read_bytes()
        for at in range(len(data)):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
            with pytest.raises(store.Damaged, match=path.name):
                store.read(good)
        path.write_bytes(data)
    assert store.read(good) == NEW


@pytest.mark.parametrize("name", ["a", "b", "MANIFEST"])
@pytest.mark.parametrize("change", ["emptied", "one short", "halved", "one long", "doubled", "missing", "swapped regions"])
def test_every_other_damage_is_found_and_passed_over(tmp_path, name, change):
    two_saves(tmp_path)
    path = store.folders(tmp_path)[0] / name
    data = path.read_bytes()
    half = len(data) // 2
    damaged = {
        "emptied": b"",
        "one short": data[:-1],
        "halved": data[:half],
        "one long": data + b"\n",
        "doubled": data * 2,
        "swapped regions": data[half:] + data[:half],
    }
    if change == "missing":
        path.unlink()
    else:
        path.write_bytes(damaged[change])
    said = []
    folder, files = store.newest(tmp_path, said.append)
    assert (folder.name, files) == ("save_000001_step_00000010", OLDER)
    assert len(said) == 1
    assert said[0].startswith(f"passing over save_000002_step_00000020: {name} ")


def test_after_a_fall_back_the_next_save_is_the_newest_and_is_not_pruned(tmp_path):
    """Sorted by step, a save at 15 would stand behind the damaged one of 20, and with keep=1 be deleted by its own write."""
    two_saves(tmp_path)
    (store.folders(tmp_path)[0] / "a").write_bytes(b"damaged")
    store.write(tmp_path, 15, NEW, keep=1)
    assert store.newest(tmp_path, nothing) == (tmp_path / "save_000003_step_00000015", NEW)


def test_random_bytes_of_a_large_file(tmp_path):
    source = random.Random(5)
    good = store.write(tmp_path, 1, {"weights": source.randbytes(1_000_003)}, keep=1)
    data = bytearray((good / "weights").read_bytes())
    for at in (0, *range(7, len(data), len(data) // 40), len(data) - 1):
        data[at] ^= 0x10
        (good / "weights").write_bytes(data)
        with pytest.raises(store.Damaged, match="SHA-256"):
            store.read(good)
        data[at] ^= 0x10


def test_strangers_are_left_alone(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "save_x_step_y").mkdir()
    (tmp_path / ".hidden").write_text("mine")
    store.write(tmp_path, 1, NEW, keep=1)
    assert {p.name for p in tmp_path.iterdir()} == {"notes", "save_x_step_y", ".hidden", "save_000001_step_00000001"}
