"""The command line: what it takes, and that nothing unknown, mistyped or impossible passes."""

import dataclasses

import pytest

from trainer import config
from trainer.errors import Refused

pytestmark = pytest.mark.trainer


def refused(*argv):
    with pytest.raises(Refused) as found:
        config.parse(argv)
    text = str(found.value)
    assert [line.split(":")[0] for line in text.splitlines()] == ["found", "wanted", "do this"]
    return text


def test_keys_come_over_the_preset_in_either_spelling():
    got = config.parse(["--steps", "7", "--preset", "tiny", "--lr=0.5", "--compile", "true", "--head", "tied"])
    assert got == config.tiny(steps=7, lr=0.5, compile=True, head="tied")
    assert config.parse([]) == config.nano()


@pytest.mark.parametrize("preset", config.PRESETS)
def test_a_preset_knows_its_name(preset):
    assert config.parse(["--preset", preset]).preset == preset


def test_a_config_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.nano().steps = 3


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--stepz", "7"], "did you mean steps?"),
        (["--preset", "nanno"], "did you mean nano?"),
        (["--steps", "7.0"], "a whole number"),
        (["--steps", "1e3"], "a whole number"),
        (["--lr", "fast"], "a number"),
        (["--compile", "1"], "true or false"),
        (["--compile"], "--compile true"),
        (["--head", "tide"], "did you mean tied?"),
        (["--steps", "1", "--steps", "2"], "twice"),
        (["steps", "7"], "--key value"),
        (["--steps", "0"], "steps >= 1"),
        (["--lr", "nan"], "finite"),
        (["--lr", "-1"], "finite"),
        (["--beta2", "1"], "beta2 < 1"),
        (["--seed", "-1"], "seed >= 0"),
        (["--final", "1.5"], "final <= 1"),
        (["--heads", "3"], "an even number of channels"),
        (["--width", "66", "--heads", "22"], "an even number of channels"),
        (["--kv_heads", "3"], "equally many query heads"),
        (["--device", "gpu"], "one of cpu, cuda"),
    ],
)
def test_what_is_wrong_is_refused_with_what_to_do(argv, says):
    assert says in refused(*argv)


def test_an_option_without_effect_is_said():
    argv = ["--optimizer", "adamw", "--muon_lr", "1", "--window", "999"]
    found = config.without_effect(config.parse(argv), argv)
    assert found == ["--muon_lr has no effect here", "--window 999 is longer than a sequence (64): full causal attention"]
    assert config.without_effect(config.nano(), ["--muon_lr", "1"]) == []


def test_help_names_every_key_and_its_default():
    text = config.help_text()
    for field in dataclasses.fields(config.Config):
        assert f"--{field.name} " in text
        assert field.metadata["meaning"] in text


@pytest.mark.parametrize(("size", "padded"), [(1, 128), (128, 128), (129, 256), (50_257, 50_304)])
def test_the_vocabulary_is_padded_to_a_multiple_of_128(size, padded):
    assert config.nano(vocab_size=size).padded_vocab == padded
