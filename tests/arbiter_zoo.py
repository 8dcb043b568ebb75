"""Healthy PyTorch training set-ups, the awkward ones among them: each public function of this module is one, a seed -> what `gradarbiter.check` is given."""

import inspect

import arbiter_models as models
import torch
import torch.distributed as dist
import torch.nn.functional as F
import transformers
from arbiter_models import D, N, T, V, classified, cross_entropy, hf_loss
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from gradarbiter.subject import Expect
from trainer import config, device, optim
from trainer.model import LM, PADDING

B = 4
CAUSAL = Expect(frozen=(), causal=True, next_token=True)


def trainer_lm(seed):
    return _trainer(seed)


def trainer_tied(seed):
    return _trainer(seed, head="tied")


def trainer_full_window_without_scales(seed):
    return _trainer(seed, scales=False, window=T)


def trainer_adamw(seed):
    return _trainer(seed, optimizer="adamw", kv_heads=4, dropout=0.1)


def trainer_bf16_autocast(seed):
    return _trainer(seed, dtype="bfloat16")


def trainer_padded_rows(seed):
    given = _trainer(seed)
    for row in range(B):
        given["batch"][row, T - 2 * row :] = PADDING
    return given


def hf_llama(seed):
    return _hf(seed, "Llama", **_llama())


def hf_mistral_window(seed):
    return _hf(seed, "Mistral", sliding_window=6, **_llama()) | {"expect": Expect(causal=True, next_token=True, reach=2 * 5 + 1)}


def hf_qwen3(seed):
    return _hf(seed, "Qwen3", head_dim=8, **_llama())


def hf_gemma2_softcap(seed):
    """Logits after a soft cap, norms after the branches, a window in every other layer."""
    return _hf(seed, "Gemma2", head_dim=8, query_pre_attn_scalar=8, sliding_window=6, **_llama())


def hf_gpt2_tied(seed):
    return _hf(seed, "GPT2", n_embd=D, n_layer=2, n_head=N, n_positions=T)


def hf_neox(seed):
    return _hf(seed, "GPTNeoX", intermediate_size=64, max_position_embeddings=T, **_shape())


def hf_opt(seed):
    return _hf(seed, "OPT", ffn_dim=64, word_embed_proj_dim=D, max_position_embeddings=T, **_shape())


def hf_bloom_alibi(seed):
    return _hf(seed, "Bloom", hidden_size=D, n_layer=2, n_head=N)


def hf_bert_masked(seed):
    torch.manual_seed(seed)
    made = transformers.BertConfig(vocab_size=V, intermediate_size=64, max_position_embeddings=T, **_shape())
    ids, hidden = torch.randint(5, V, (B, T)), torch.rand(B, T) < 0.3
    batch = {"input_ids": ids.masked_fill(hidden, 4), "labels": ids.masked_fill(~hidden, -100), "attention_mask": torch.ones_like(ids)}
    return _with(transformers.BertForMaskedLM(made), batch, hf_loss, expect=Expect(frozen=(), causal=False))


def hf_t5(seed):
    torch.manual_seed(seed)
    made = transformers.T5Config(vocab_size=V, d_model=D, d_kv=8, d_ff=64, num_layers=2, num_heads=N, decoder_start_token_id=0)
    batch = {"input_ids": torch.randint(2, V, (B, T)), "labels": torch.randint(2, V, (B, T - 6))}
    return _with(transformers.T5ForConditionalGeneration(made), batch, hf_loss)


def prompts_not_scored(seed):
    given = hf_llama(seed)
    given["batch"]["labels"] = given["batch"]["input_ids"].clone()
    given["batch"]["labels"][:, : T // 2] = -100
    return given


def left_padded(seed):
    given = hf_llama(seed)
    ids = given["batch"]["input_ids"]
    mask = torch.stack([torch.arange(T) >= 2 * row for row in range(B)])
    given["batch"] = {"input_ids": ids, "attention_mask": mask.long(), "labels": ids.masked_fill(~mask, -100)}
    return given


def lora_llama(seed):
    model = hf_llama(seed)["model"].requires_grad_(requires_grad=False)
    for layer in model.model.layers:
        layer.self_attn.q_proj, layer.self_attn.v_proj = models.Low(layer.self_attn.q_proj), models.Low(layer.self_attn.v_proj)
    frozen = ["*norm.weight", "*embed_tokens.weight", "lm_head.weight", "*base.weight", "*k_proj*", "*o_proj*", "*mlp*"]
    ids = torch.randint(0, V, (B, T))
    expect = Expect(frozen=frozen, causal=True, next_token=True)
    return _with(model, {"input_ids": ids, "labels": ids}, hf_loss, expect=expect)


def torch_encoder_classifier(seed):
    torch.manual_seed(seed)
    return _with(models.Classifier(models.Encoder(learned=False)), (torch.randint(0, V, (B, T)), torch.randint(0, 5, (B,))), classified)


def torch_encoder_tagger(seed):
    """A class for every token; learned positions that are no table."""
    torch.manual_seed(seed)
    model = nn.Sequential(models.Encoder(learned=True, norm_first=True), nn.Linear(D, 5))
    batch = {"tokens": torch.randint(0, V, (B, T)), "tags": torch.randint(0, 5, (B, T))}
    return _with(model, batch, lambda m, b: F.cross_entropy(m(b["tokens"]).mT, b["tags"]), tokens="tokens")


def frozen_encoder(seed):
    torch.manual_seed(seed)
    encoder = models.Encoder(learned=False).requires_grad_(requires_grad=False)
    return _with(
        models.Classifier(encoder),
        (torch.randint(0, V, (B, T)), torch.randint(0, 5, (B,))),
        classified,
        expect=Expect(frozen=["encoder.*"]),
    )


def lstm_lm(seed):
    return _language(seed, models.Recurrent)


def unseen_rows(seed):
    """Most of a large vocabulary does not occur in a batch."""
    return _language(seed, lambda: models.Recurrent(2000), vocabulary=2000)


def moe_idle_expert(seed):
    return _language(seed, models.Mixture) | {"expect": Expect(causal=True, next_token=True, unused=["experts.experts.3.*"])}


def adaln_zero_diffusion(seed):
    torch.manual_seed(seed)

    def loss_fn(model, batch):
        noise, time = torch.randn_like(batch["x"]), torch.rand_like(batch["x"][:, 0, 0])
        share = time[:, None, None]
        return F.mse_loss(model((1 - share) * batch["x"] + share * noise, time), noise - batch["x"])

    return _with(models.Conditioned(), {"x": torch.randn(B, T, 8)}, loss_fn)


def mlp_batch_norm_dropout(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 7))
    return _with(model, (torch.randn(16, 10), torch.randint(0, 7, (16,))), classified)


def conv_net(seed):
    torch.manual_seed(seed)
    block = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU()]
    model = nn.Sequential(*block, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
    return _with(model, (torch.randn(8, 3, 12, 12), torch.randint(0, 10, (8,))), classified)


def regression(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 2))
    return _with(model, (torch.randn(16, 6), torch.randn(16, 2)), lambda m, b: F.mse_loss(m(b[0]), b[1]))


def sgd_momentum(seed):
    given = lstm_lm(seed)
    return given | {"optimizer": torch.optim.SGD(given["model"].parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)}


def adafactor(seed):
    given = lstm_lm(seed)
    return given | {"optimizer": torch.optim.Adafactor(given["model"].parameters(), lr=0.01)}


def bf16_weights(seed):
    given = hf_llama(seed)
    return given | {"optimizer": torch.optim.AdamW(given["model"].bfloat16().parameters(), lr=1e-2)}  # above bfloat16's last place of 1


def activation_checkpointing(seed):
    return _language(seed, models.Checkpointed)


def gradient_accumulation(seed):
    given = lstm_lm(seed)
    model, batch, loss_fn, optimizer = (given[key] for key in ("model", "batch", "loss_fn", "optimizer"))

    def accumulate():
        for rows in batch.chunk(2):
            (loss_fn(model, rows) / 2).backward()

    def step():
        optimizer.zero_grad()
        accumulate()
        optimizer.step()

    return given | {"accumulate": accumulate, "step": step}


def grad_scaler(seed):
    given = lstm_lm(seed)
    model, batch, loss_fn, optimizer = (given[key] for key in ("model", "batch", "loss_fn", "optimizer"))
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    def step():
        optimizer.zero_grad()
        scaler.scale(loss_fn(model, batch)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    return given | {"step": step, "keep": [scaler]}


def data_parallel(seed):
    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    given = lstm_lm(seed)
    return given | {"model": DistributedDataParallel(given["model"])}


def compiled(seed):
    given = lstm_lm(seed)
    return given | {"model": torch.compile(given["model"], backend="aot_eager")}


def _trainer(seed, **options):
    c = config.nano(vocab_size=V, **({"width": D, "ffn": 48, "length": T, "window": 5, "seed": seed} | options))
    torch.manual_seed(seed)
    model = LM(c)

    def loss_fn(model, tokens_BT1):
        with device.arithmetic(c):
            nll, count = model.loss(tokens_BT1)
        return nll / count

    tied = [("embedding.weight", "head.weight")] if c.head == "tied" else ()
    reach = c.layers * (min(c.window, T) - 1) + 1
    expect = Expect(frozen=(), tied=tied, causal=True, reach=reach, next_token=True, vocab_size=V, padding=PADDING)
    return _with(model, torch.randint(0, V, (B, T + 1)), loss_fn, expect=expect, optimizer=optim.optimizers(model, c))


def _hf(seed, name, **options):
    torch.manual_seed(seed)
    made = getattr(transformers, f"{name}Config")(vocab_size=V, bos_token_id=0, eos_token_id=1, pad_token_id=None, **options)
    model = getattr(transformers, "GPT2LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM")(made)
    ids = torch.randint(0, V, (B, T))
    return _with(model, {"input_ids": ids, "labels": ids}, hf_loss, expect=CAUSAL)


def _shape():
    return {"hidden_size": D, "num_hidden_layers": 2, "num_attention_heads": N}


def _llama():
    return {"intermediate_size": 64, "num_key_value_heads": 2, "max_position_embeddings": T, **_shape()}


def _language(seed, make, vocabulary=V):
    torch.manual_seed(seed)
    return _with(make(), torch.randint(0, vocabulary, (B, T + 1)), cross_entropy, expect=CAUSAL)


def _with(model, batch, loss_fn, **given):
    trained = [p for p in model.parameters() if p.requires_grad]
    return {"model": model, "batch": batch, "loss_fn": loss_fn, "optimizer": torch.optim.AdamW(trained, lr=1e-3), **given}


ZOO = {name: made for name, made in globals().items() if inspect.isfunction(made) and made.__module__ == __name__ and name[0] != "_"}
