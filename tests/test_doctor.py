"""What the doctor says of a machine."""

import ctypes.util

import pytest

from harness import doctor


def state(fakes):
    return {what: (how, detail) for what, how, detail in doctor.examine(fakes)}["Vulkan"]


@pytest.fixture
def loader(monkeypatch):
    monkeypatch.setattr(ctypes.util, "find_library", lambda _: "libvulkan.so.1")
    monkeypatch.delenv("VK_ICD_FILENAMES", raising=False)


def test_vulkan_needs_its_loader(fakes, monkeypatch):
    monkeypatch.setattr(ctypes.util, "find_library", lambda _: None)
    how, detail = state(fakes)
    assert how == "missing"
    assert "apt install mesa-vulkan-drivers libvulkan1" in detail


@pytest.mark.usefixtures("loader")
def test_vulkan_needs_a_driver(fakes, monkeypatch, tmp_path):
    driver = tmp_path / "lvp_icd.json"
    monkeypatch.setenv("VK_DRIVER_FILES", str(driver))
    assert state(fakes)[0] == "missing"
    driver.write_text("{}")
    assert state(fakes) == ("ok", "lvp_icd")
