"""The model: its size, its first loss, what depends on what, and that a plain Llama holds the same function."""

import math

import pytest

torch = pytest.importorskip("torch")

from trainer import config, model  # noqa: E402

pytestmark = pytest.mark.trainer


def made(**changes):
    torch.manual_seed(1)
    return model.LM(config.nano(**{"vocab_size": 300, "length": 40, **changes}))


def tokens(rows=4, length=40, vocab=300):
    return torch.randint(0, vocab, (rows, length + 1), generator=torch.Generator().manual_seed(2))


def test_the_paper_preset_has_0_43_billion_parameters():
    chosen = config.paper()
    with torch.device("meta"):
        built = model.LM(chosen)
    count = sum(p.numel() for p in built.parameters())
    c = chosen
    layer = 2 * c.width**2 + 2 * c.width * c.kv_heads * c.head_channels + 3 * c.width * c.ffn + 2 * c.width + 2 + c.kv_heads
    assert count == c.layers * layer + 2 * c.width * c.vocab_size + c.width == 427_337_024
    assert 0.425e9 < count < 0.435e9
    assert chosen.batch * chosen.accumulate * chosen.length == 2**18
    assert 1.98e9 < chosen.steps * 2**18 < 2.0e9


@pytest.mark.parametrize("head", ["tied", "untied"])
@pytest.mark.parametrize("shape", [{}, {"width": 384, "heads": 6, "ffn": 512}])
@pytest.mark.parametrize("vocab", [300, 4096])
def test_the_first_loss_is_near_the_logarithm_of_the_vocabulary(head, shape, vocab):
    built = made(head=head, vocab_size=vocab, **shape)
    nll, count = built.loss(tokens(vocab=vocab))
    assert count == 160
    # logits of standard deviation 1/4 cost 1/32 nat; 160 tokens scatter by 0.25/sqrt(160) = 0.02 around that; a tied head also prefers its own input
    assert math.log(vocab) - 0.05 < nll.item() / count.item() < math.log(vocab) + 0.3


@pytest.mark.parametrize("layers", [2, 8])
def test_depth_does_not_make_the_stream_louder(layers):
    built, seen = made(layers=layers, width=128, ffn=384), []
    built.norm.register_forward_pre_hook(lambda _module, given: seen.append(given[0].var()))
    with torch.no_grad():
        built(tokens()[:, :-1])
    # 0.25 of the embedding, 0.3 of all branches, whose outputs are divided by sqrt(2 layers); not divided, 8 layers would add 5
    assert 0.45 < seen[0] < 0.65


def test_padding_ids_are_never_scored():
    built = made(vocab_size=300)
    assert built.embedding.weight.shape[0] == 384
    assert built(tokens()[:, :-1]).shape == (4, 40, 300)
    built.loss(tokens())[0].backward()
    assert built.head.weight.grad[300:].abs().sum() == 0
    assert built.head.weight.grad[:300].abs().sum() > 0


def test_targets_that_are_padding_do_not_count():
    built, rows = made(), tokens()
    full, _ = built.loss(rows)
    rows[:, 20:] = model.PADDING
    part, count = built.loss(rows)
    nll = torch.nn.functional.cross_entropy(built(rows[:, :19]).flatten(0, 1), rows[:, 1:20].flatten(), reduction="sum")
    assert count == 4 * 19
    torch.testing.assert_close(part, nll, rtol=1e-5, atol=0)
    assert part < full


def test_no_position_sees_a_later_token():
    built, rows = made(), tokens()[:, :-1]
    before = built(rows)
    rows[:, 25] = (rows[:, 25] + 1) % 300
    changed_T = (built(rows) != before).flatten(2).any(2).any(0)
    assert changed_T.nonzero().flatten().min() == 25


def test_position_matters_and_only_as_a_distance():
    cos, sin = model.angles(64, 16, 10_000.0)
    q, k = torch.randn(2, 1, 1, 1, 16, dtype=torch.float64).unbind(0)

    def score(i, j):
        return (
            model.rotate(q, cos[i : i + 1].double(), sin[i : i + 1].double())
            * model.rotate(k, cos[j : j + 1].double(), sin[j : j + 1].double())
        ).sum()

    torch.testing.assert_close(score(9, 4), score(59, 54), rtol=1e-5, atol=1e-6)
    assert (score(9, 4) - score(4, 9)).abs() > 1e-2


def test_rope_turns_channel_i_with_channel_i_plus_half():
    cos, sin = model.angles(3, 8, 100.0)
    x = torch.zeros(1, 3, 1, 8)
    x[..., 1] = 1
    turned = model.rotate(x, cos, sin)[0, 2, 0]
    angle = 2 * 100 ** (-2 / 8)
    assert turned.nonzero().flatten().tolist() == [1, 5]
    torch.testing.assert_close(turned[[1, 5]], torch.tensor([math.cos(angle), math.sin(angle)]))


def test_angles_are_exact_far_from_the_start():
    """Computed in float32, position times frequency is off by 1e-4 at 2000: as much as bfloat16 weights are."""
    cos, sin = model.angles(4096, 64, 10_000.0)
    for position, i in ((4095, 0), (4095, 1), (3001, 5), (2000, 31)):
        angle = position * 10_000.0 ** (-2 * i / 64)
        assert float(cos[position, i]) == pytest.approx(math.cos(angle), abs=6e-8)
        assert float(sin[position, i]) == pytest.approx(math.sin(angle), abs=6e-8)


def test_dropout_drops_whole_shares_in_training_only():
    built, rows = made(dropout=0.5), tokens()[:, :-1]
    with torch.no_grad():
        assert not torch.equal(built(rows), built(rows))
        layer, x = built.layers[0], torch.zeros(4, 40, 64)
        dropped = layer._add(x, torch.ones_like(x), None)
        assert set(dropped.unique().tolist()) == {0.0, 2.0}  # what stays is as much louder, so that the mean stays
        assert 0.4 < (dropped == 0).float().mean() < 0.6
        built.eval()
        assert torch.equal(built(rows), built(rows))


@pytest.mark.parametrize("changes", [{}, {"head": "tied"}, {"scales": False}, {"window": 40}])
def test_every_parameter_has_a_finite_gradient_that_is_not_zero(changes):
    built = made(**changes)
    built.loss(tokens())[0].backward()
    for name, p in built.named_parameters():
        assert p.grad is not None, name
        assert p.grad.isfinite().all(), name
        assert p.grad.abs().max() > 0, name


def test_roles_are_by_purpose_not_by_axes():
    roles = made().roles()
    assert {name for name, role in roles.items() if role == "matrix"} == {
        f"layers.{i}.{part}.weight"
        for i in (0, 1)
        for part in ("attention.query", "attention.key", "attention.value", "attention.output", "ffn.gate", "ffn.up", "ffn.down")
    }
    assert (roles["embedding.weight"], roles["head.weight"]) == ("embedding", "head")
    assert "head.weight" not in made(head="tied").roles()
    assert sum(role == "norm" for role in roles.values()) == 5
    assert sum(role == "scale" for role in roles.values()) == 6


@pytest.mark.parametrize("changes", [{}, {"scales": False}, {"scales": False, "kv_heads": 1}, {"head": "tied"}])
def test_a_plain_llama_holds_the_same_function_once_the_scales_are_folded(changes):
    """An independent implementation: RoPE's pairing, grouping, norms, SwiGLU and the causal mask all have to be the same."""
    transformers = pytest.importorskip("transformers")
    built = made(vocab_size=384, window=40, **changes)
    with torch.no_grad():
        for name, p in built.named_parameters():
            if built.roles()[name] in ("scale", "norm"):
                p.uniform_(0.5, 1.5)
    c = built.config
    llama = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=384,
            hidden_size=c.width,
            intermediate_size=c.ffn,
            num_hidden_layers=c.layers,
            num_attention_heads=c.heads,
            num_key_value_heads=c.kv_heads,
            rms_norm_eps=model.EPS,
            rope_theta=c.rope_base,
            tie_word_embeddings=c.head == "tied",
        )
    )
    llama.load_state_dict(built.folded())
    rows = tokens()[:, :-1]
    with torch.no_grad():
        torch.testing.assert_close(built(rows), llama(rows).logits, rtol=0, atol=2e-5)
        built.layers[0].attention.output.weight.mul_(0.9)
        assert (built(rows) - llama(rows).logits).abs().max() > 1e-3


def test_a_bf16_stream_stays_near_the_float32_one():
    """And is one: not widened again by a norm's weight or a scale, which would be as slow as none."""
    exact, rounded = made(), made(stream="bfloat16", dtype="bfloat16")
    passed = []
    for module in rounded.modules():
        if isinstance(module, model.RMSNorm):
            module.register_forward_hook(lambda _module, given, out: passed.extend([given[0].dtype, out.dtype]))
    with torch.no_grad():
        want = exact.loss(tokens())[0] / 160
        with torch.autocast("cpu", torch.bfloat16):
            got = rounded.loss(tokens())[0] / 160
    assert passed == [torch.bfloat16] * 10
    assert rounded.embedding.weight.dtype == torch.float32
    assert 0 < abs(got - want) < 0.01  # logits of size 1/4 rounded to 8 bits are off by 1e-3, averaged over 160 tokens
