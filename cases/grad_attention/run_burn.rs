use crate::glue::Tensors;
use crate::swept::Attributes;
use burn::module::{Param, ParamId};
use burn::nn::attention::{MhaInput, MultiHeadAttentionConfig};
use burn::nn::{Linear, RotaryEncodingConfig};
use burn::tensor::{backend::Backend, Bool, Tensor};

pub fn sdpa<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 4> {
    attend(t, None)
}

pub fn sdpa_mask<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 4> {
    attend(t, Some(hidden(t)))
}

pub fn sdpa_mask_heads<B: Backend>(t: &Tensors<B>, _: &Attributes) -> Tensor<B, 4> {
    attend(t, Some(hidden(t)))
}

pub fn sdpa_hidden_row<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
    let y = attend(t, Some(hidden(t)));
    let row = a["row"].as_u64().unwrap() as usize;
    let rows = y.split(1, 2).into_iter().enumerate();
    let kept: Vec<_> = rows
        .filter(|(n, _)| *n != row)
        .map(|(_, part)| part)
        .collect();
    if kept.is_empty() {
        return Tensor::zeros([0, 0, 0, 0], &t.device);
    }
    Tensor::cat(kept, 2)
}

pub fn multi_head<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 3> {
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

pub fn rope_interleaved<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 4> {
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

fn attend<B: Backend>(t: &Tensors<B>, hidden: Option<Tensor<B, 4, Bool>>) -> Tensor<B, 4> {
    burn::tensor::module::attention(t.float("q"), t.float("k"), t.float("v"), hidden)
}

/// True where a query may not see a key.
fn hidden<B: Backend>(t: &Tensors<B>) -> Tensor<B, 4, Bool> {
    let [batch, heads, queries, _] = t.float::<4>("q").dims();
    let keys = t.float::<4>("k").dims()[2];
    let seen = t.mask::<4>("mask").expand([batch, heads, queries, keys]);
    seen.bool_not()
}

fn projection<B: Backend>(t: &Tensors<B>, weight: &str, bias: &str) -> Linear<B> {
    Linear {
        weight: Param::initialized(ParamId::new(), t.float::<2>(weight).transpose()),
        bias: Some(Param::initialized(ParamId::new(), t.float(bias))),
    }
}
