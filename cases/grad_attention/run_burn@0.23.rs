use crate::glue::Tensors;
use crate::swept::Attributes;
use burn::module::{Param, ParamId};
use burn::nn::attention::{MhaInput, MultiHeadAttentionConfig};
use burn::nn::{Linear, RotaryEncodingConfig};
use burn::tensor::module::attention;
use burn::tensor::ops::{AttentionModuleOptions, CausalAlignment};
use burn::tensor::{Bool, Tensor, TensorData};

pub fn sdpa(t: &Tensors, _: &Attributes) -> Tensor<4> {
    attend(t, None)
}

pub fn sdpa_mask(t: &Tensors, _: &Attributes) -> Tensor<4> {
    attend(t, Some(hidden(t)))
}

pub fn sdpa_mask_heads(t: &Tensors, _: &Attributes) -> Tensor<4> {
    attend(t, Some(hidden(t)))
}

pub fn sdpa_hidden_row(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let y = attend(t, Some(hidden(t)));
    let row = a["row"].as_u64().unwrap() as usize;
    let rows = y.split(1, 2).into_iter().enumerate();
    let kept: Vec<_> = rows.filter(|(n, _)| *n != row).map(|(_, part)| part).collect();
    if kept.is_empty() {
        return Tensor::zeros([0, 0, 0, 0], &t.device);
    }
    Tensor::cat(kept, 2)
}

pub fn multi_head(t: &Tensors, a: &Attributes) -> Tensor<3> {
    let x = t.float::<3>("x");
    let heads = a["heads"].as_u64().unwrap() as usize;
    let config = MultiHeadAttentionConfig::new(x.dims()[2], heads).with_dropout(0.0);
    let mut layer = config.init(&t.device);
    layer.query = projection(t, "wq", "bq");
    layer.key = projection(t, "wk", "bk");
    layer.value = projection(t, "wv", "bv");
    layer.output = projection(t, "wo", "bo");
    layer.forward(MhaInput::self_attn(x)).context
}

pub fn rope_interleaved(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let x = t.float::<4>("x");
    let [.., length, size] = x.dims();
    if a["dims"].as_u64().unwrap() as usize != size {
        panic!("not offered: to turn a part of the numbers");
    }
    let offset = a["offset"].as_u64().unwrap() as usize;
    let scale = a["scale"].as_f64().unwrap();
    RotaryEncodingConfig::new(offset + length, size)
        .with_theta(a["base"].as_f64().unwrap() as f32)
        .init_with_frequency_scaling(|frequencies| frequencies * scale, &t.device)
        .apply(x, offset)
}

pub fn sdpa_scale(t: &Tensors, a: &Attributes) -> Tensor<4> {
    let mut options = AttentionModuleOptions::default();
    options.scale = a["scale"].as_f64();
    attention(t.float("q"), t.float("k"), t.float("v"), None, None, options)
}

pub fn sdpa_causal(t: &Tensors, _: &Attributes) -> Tensor<4> {
    attention(t.float("q"), t.float("k"), t.float("v"), None, None, causal())
}

pub fn sdpa_causal_rectangle(t: &Tensors, _: &Attributes) -> Tensor<4> {
    let mut options = causal();
    options.causal_alignment = CausalAlignment::TopLeft;
    attention(t.float("q"), t.float("k"), t.float("v"), None, None, options)
}

pub fn sdpa_bias(t: &Tensors, _: &Attributes) -> Tensor<4> {
    biased(t, t.float("mask"))
}

pub fn sdpa_bias_heads(t: &Tensors, _: &Attributes) -> Tensor<4> {
    biased(t, t.float("mask"))
}

pub fn sdpa_cache(t: &Tensors, _: &Attributes) -> Tensor<4> {
    let k = Tensor::cat(vec![t.float::<4>("past_k"), t.float("k")], 2);
    let v = Tensor::cat(vec![t.float::<4>("past_v"), t.float("v")], 2);
    attention(t.float("q"), k, v, None, None, causal())
}

pub fn sdpa_alibi(t: &Tensors, _: &Attributes) -> Tensor<4> {
    let (queries, keys) = (t.dims("q")[2], t.dims("k")[2]);
    let apart = (0..queries * keys).map(|n| (n / keys).abs_diff(n % keys) as f64);
    let apart = TensorData::new(apart.collect(), [1, 1, queries, keys]);
    let slopes = t.float::<1>("slopes").reshape([1, -1, 1, 1]);
    biased(t, slopes.neg() * Tensor::from_data(apart, &t.device))
}

pub fn sdpa_grouped(t: &Tensors, _: &Attributes) -> Tensor<4> {
    attend(t, None)
}

fn attend(t: &Tensors, hidden: Option<Tensor<4, Bool>>) -> Tensor<4> {
    attention(t.float("q"), t.float("k"), t.float("v"), hidden, None, Default::default())
}

/// True where a query may not see a key.
fn hidden(t: &Tensors) -> Tensor<4, Bool> {
    let [batch, heads, queries, _] = t.float::<4>("q").dims();
    let keys = t.float::<4>("k").dims()[2];
    let seen = t.mask::<4>("mask").expand([batch, heads, queries, keys]);
    seen.bool_not()
}

fn projection(t: &Tensors, weight: &str, bias: &str) -> Linear {
    Linear {
        weight: Param::initialized(ParamId::new(), t.float::<2>(weight).transpose()),
        bias: Some(Param::initialized(ParamId::new(), t.float(bias))),
    }
}

fn causal() -> AttentionModuleOptions {
    let mut options = AttentionModuleOptions::default();
    options.is_causal = true;
    options
}

fn biased(t: &Tensors, bias: Tensor<4>) -> Tensor<4> {
    let [batch, heads, queries, _] = t.float::<4>("q").dims();
    let bias = bias.expand([batch, heads, queries, t.dims("k")[2]]);
    attention(t.float("q"), t.float("k"), t.float("v"), None, Some(bias), Default::default())
}
