"""The exported model is loaded with transformers and gives the same logits, over every option that changes the function; what does not fit is refused."""

import json

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from safetensors import torch as safetensors  # noqa: E402

from trainer import config, data, export, step, train, trained  # noqa: E402
from trainer import tokenizer as tk  # noqa: E402
from trainer.model import LM  # noqa: E402

pytestmark = [
    pytest.mark.trainer,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # transformers' own
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
# Both compute in float32 along other paths: about 20 roundings of 6e-8 a layer, on logits of about 1; a wrong convention differs by 1e-1.
TOLERANCE = 2e-5


def model_of(**changes):
    """Every parameter away from its initial value, scales and norms too, or folding them would prove nothing; logits of about 1."""
    made = LM(config.nano(**{"vocab_size": 300, "length": 48, "window": 7, "width": 32, "ffn": 48, **changes})).eval()
    torch.manual_seed(3)
    with torch.no_grad():
        for name, p in made.named_parameters():
            p.mul_(1 + 0.4 * torch.rand_like(p))
            if made.roles()[name] == "head" or name == "embedding.weight":
                p.mul_(3)
    return made


def loaded(out):
    return transformers.AutoModelForCausalLM.from_pretrained(out, attn_implementation="eager", dtype=torch.float32).eval()


def both(ours, out, seed=0):
    tokens_BT = torch.randint(0, 300, (2, 40), generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        return ours(tokens_BT), loaded(out)(tokens_BT).logits


@pytest.mark.parametrize("head", ["untied", "tied"])
@pytest.mark.parametrize(("window", "architecture"), [(7, "MistralForCausalLM"), (48, "LlamaForCausalLM")])
@pytest.mark.parametrize("scales", [True, False])
def test_transformers_computes_the_same_logits(head, window, architecture, scales, tmp_path):
    ours = model_of(head=head, window=window, scales=scales, rope_base=500.0)
    export.to_hf(ours, tmp_path / "hf")
    assert json.loads((tmp_path / "hf" / "config.json").read_text())["architectures"] == [architecture]
    wanted, found = both(ours, tmp_path / "hf")
    assert found.shape == wanted.shape == (2, 40, 300)
    assert float(wanted.std()) > 0.3  # else a tolerance would say little
    assert float((found - wanted).abs().max()) < TOLERANCE * float(wanted.abs().max())


@pytest.mark.parametrize("key", ["sliding_window", "rope", "num_key_value_heads"])
def test_the_comparison_sees_a_wrong_configuration(key, tmp_path):
    ours = model_of(rope_base=500.0)
    export.to_hf(ours, tmp_path / "hf")
    path = tmp_path / "hf" / "config.json"
    content = json.loads(path.read_text())
    if key == "sliding_window":
        content[key] += 1
    elif key == "rope":
        content["rope_theta"] = content["rope_parameters"]["rope_theta"] = 10_000.0
    else:  # the scales of the first layer left out: what an export without folding would write
        weights = safetensors.load_file(tmp_path / "hf" / "model.safetensors")
        weights["model.layers.0.self_attn.v_proj.weight"] = ours.layers[0].attention.value.weight.detach()
        safetensors.save_file(weights, tmp_path / "hf" / "model.safetensors", metadata={"format": "pt"})
    path.write_text(json.dumps(content))
    wanted, found = both(ours, tmp_path / "hf")
    assert float((found - wanted).abs().max()) > 10 * TOLERANCE * float(wanted.abs().max())


def test_a_part_that_a_llama_has_no_place_for_is_refused(tmp_path):
    ours = model_of()
    ours.layers[0].attention.query.bias = torch.nn.Parameter(torch.zeros(32))
    with pytest.raises(ValueError, match=r"found: .*query\.bias"):
        export.to_hf(ours, tmp_path / "hf")
    assert not (tmp_path / "hf").exists()


def test_weights_that_are_not_finite_are_refused(tmp_path):
    ours = model_of()
    with torch.no_grad():
        ours.layers[1].ffn.down.weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match="not finite"):
        export.to_hf(ours, tmp_path / "hf")


def test_an_existing_folder_is_not_touched(tmp_path):
    (tmp_path / "hf").mkdir()
    with pytest.raises(ValueError, match="is there already"):
        export.to_hf(model_of(), tmp_path / "hf")
    assert not list((tmp_path / "hf").iterdir())


@pytest.mark.parametrize("head", ["untied", "tied"])
def test_weights_come_back(head, tmp_path):
    """Exported and imported: without scales to the bit; with them the folded function, within rounding."""
    for scales in (False, True):
        ours = model_of(head=head, scales=scales)
        export.to_hf(ours, tmp_path / f"hf-{scales}")
        again = LM(ours.config).eval()
        trained.import_weights(again, safetensors.load_file(tmp_path / f"hf-{scales}" / "model.safetensors"))
        tokens_BT = torch.arange(40)[None]
        with torch.no_grad():
            wanted, found = ours(tokens_BT), again(tokens_BT)
        assert float((found - wanted).abs().max()) <= (TOLERANCE * float(wanted.abs().max()) if scales else 0)


def test_own_names_are_imported(tmp_path):
    ours = model_of()
    again = LM(ours.config)
    trained.import_weights(again, {name: p.detach() for name, p in ours.named_parameters()})
    assert all(torch.equal(a, b) for a, b in zip(ours.parameters(), again.parameters(), strict=True))


def test_a_llama_made_by_transformers_is_imported():
    """The other direction, so that a mistake made in both of ours would show."""
    c = config.nano(vocab_size=300, length=48, window=48, width=32, ffn=48)
    theirs = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**{k: v for k, v in export.hf_config(c).items() if k not in ("architectures", "model_type")})
    ).eval()
    ours = LM(c).eval()
    trained.import_weights(ours, theirs.state_dict())
    tokens_BT = torch.arange(40)[None]
    with torch.no_grad():
        wanted, found = theirs(tokens_BT).logits, ours(tokens_BT)
    assert float((found - wanted).abs().max()) < TOLERANCE * float(wanted.abs().max())


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda w: w.pop("model.norm.weight"), r"weights without \['norm.weight'\]"),
        (lambda w: w.update({"model.layers.9.mlp.up_proj.weight": torch.zeros(2, 2)}), "model.layers.9"),
        (lambda w: w.update({"model.norm.weight": torch.zeros(31)}), "norm.weight of shape"),
        (lambda w: w.update({"model.norm.weight": torch.full((32,), torch.inf)}), "not finite"),
    ],
)
def test_weights_that_do_not_fit_are_refused(spoil, says):
    ours = model_of()
    weights = ours.folded()
    spoil(weights)
    with pytest.raises(ValueError, match=says):
        trained.import_weights(LM(ours.config), weights)


def test_rows_that_pad_the_vocabulary_are_empty_whatever_they_were():
    again = LM(model_of().config)
    trained.import_weights(again, {name: w[:300] if "embed" in name or "head" in name else w for name, w in model_of().folded().items()})
    assert again.embedding.weight.shape[0] == 384
    assert not again.embedding.weight[300:].any()
    assert not again.head.weight[300:].any()


def test_untied_weights_do_not_become_a_tied_model():
    with pytest.raises(ValueError, match="a head that is not the embedding"):
        trained.import_weights(LM(model_of(head="tied").config), model_of().folded())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return data.sample(tmp_path_factory.mktemp("data") / "sample", vocab=500)


def test_the_command_exports_a_run_with_its_tokenizer(folder, tmp_path):
    out, hf = tmp_path / "run", tmp_path / "hf"
    train.main(["--data", str(folder), "--out", str(out), "--steps", "3", "--progress", "false"])
    assert export.main(["hf", "--run", str(out), "--data", str(folder), "--out", str(hf)]) == 0
    theirs, ours = transformers.AutoTokenizer.from_pretrained(hf), tk.load(folder / "tokenizer.json")
    for text in ("সকালে মা পুকুরপা\u09dcে গেলেন।", "He read  the letter twice.\n"):
        assert theirs.encode(text, add_special_tokens=False) == ours.encode(text).ids
        assert theirs.decode(theirs.encode(text, add_special_tokens=False)) == text
    written = json.loads((hf / "config.json").read_text())
    assert (written["bos_token_id"], written["eos_token_id"]) == (0, 0)  # what lm-eval puts before a text, and generation stops at
    assert theirs.eos_token == tk.END
    assert theirs.eos_token_id == 0
    wanted, found = both(trained.read(out).model, hf)
    assert float((found - wanted).abs().max()) < TOLERANCE * float(wanted.abs().max())


def test_an_export_with_another_tokenizer_is_refused(folder, tmp_path, capsys):
    out = tmp_path / "run"
    train.main(["--data", str(folder), "--out", str(out), "--steps", "1", "--progress", "false"])
    other = data.sample(tmp_path / "other", vocab=600)
    assert export.main(["hf", "--run", str(out), "--data", str(other), "--out", str(tmp_path / "hf")]) == 2
    assert "tokenizer that the checkpoint was trained with" in capsys.readouterr().err


def test_a_run_starts_from_imported_weights(folder, tmp_path):
    """The first loss is the imported model's, not a random one's, and the run goes on from there."""
    ours = model_of(vocab_size=500)
    path = tmp_path / "model.safetensors"
    safetensors.save_file({name: weight.contiguous() for name, weight in ours.folded().items()}, path)
    shape = [
        "--length",
        "48",
        "--window",
        "7",
        "--width",
        "32",
        "--ffn",
        "48",
        "--steps",
        "2",
        "--progress",
        "false",
        "--data",
        str(folder),
        "--out",
        str(tmp_path / "run"),
    ]
    assert export.main(["start", "--weights", str(path), *shape]) == 0
    run = train.train(config.parse(shape))
    assert [outcome.step for outcome in run.outcomes] == [0, 1]
    batches = [torch.from_numpy(run.tokens.batch(at, seed=0, batch=4, length=48)) for at in range(2)]
    with torch.no_grad():
        wanted = sum(float(ours.loss(b)[0]) for b in batches) / sum(int(step.scored(b)) for b in batches)
    assert run.losses[0] == pytest.approx(wanted, rel=1e-5)  # scales were folded: rounding
    assert export.main(["start", "--weights", str(path), *shape]) == 2  # it has begun


@pytest.mark.parametrize("content", [None, b"", b"no safetensors", b"\xff" * 100])
def test_weights_that_cannot_be_read_are_refused(content, folder, tmp_path, capsys):
    path = tmp_path / "model.safetensors"
    if content is not None:
        path.write_bytes(content)
    argv = ["start", "--weights", str(path), "--data", str(folder), "--out", str(tmp_path / "run"), "--progress", "false"]
    assert export.main(argv) == 2
    assert f"found:   {path}: " in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
