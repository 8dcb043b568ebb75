use candle_core::{Result, Tensor, D};
use candle_nn::rotary_emb::{rope_i_slow, rope_slow};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn sdpa_cache(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let mut cache = candle_nn::kv_cache::ConcatKvCache::new(2);
    cache.append(&t["past_k"], &t["past_v"])?;
    let (k, v) = cache.append(&t["k"], &t["v"])?;
    let scale = (t["q"].dim(D::Minus1)? as f64).sqrt();
    let scores = (t["q"].matmul(&k.t()?)? / scale)?;
    let hidden: Vec<f32> = hidden(scores.dim(2)?, scores.dim(3)?);
    let hidden = Tensor::from_vec(hidden, (scores.dim(2)?, scores.dim(3)?), scores.device())?;
    let scores = scores.broadcast_add(&hidden.to_dtype(scores.dtype())?)?;
    candle_nn::ops::softmax(&scores, D::Minus1)?.matmul(&v)
}

pub fn rope_half(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    rotate(&t["x"], a, rope_slow)
}

pub fn rope_interleaved(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    rotate(&t["x"], a, rope_i_slow)
}

/// The last query sees the last key.
fn hidden(queries: usize, keys: usize) -> Vec<f32> {
    let at = (0..queries).flat_map(|q| (0..keys).map(move |k| k > q + keys - queries));
    at.map(|hidden| if hidden { f32::NEG_INFINITY } else { 0. }).collect()
}

fn rotate(x: &Tensor, a: &Attributes, rope: impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let number = |name: &str| a[name].as_f64().expect("a number");
    let (time, size, dims) = (x.dim(2)?, x.dim(3)?, number("dims") as usize);
    let angle = |t: usize, i: usize| (number("offset") + t as f64) * number("scale") * number("base").powf(-2. * i as f64 / dims as f64);
    let angles: Vec<f64> = (0..time * dims / 2).map(|at| angle(at / (dims / 2), at % (dims / 2))).collect();
    let angles = Tensor::from_vec(angles, (time, dims / 2), x.device())?;
    let (cos, sin) = (angles.cos()?.to_dtype(x.dtype())?, angles.sin()?.to_dtype(x.dtype())?);
    let turned = rope(&x.narrow(3, 0, dims)?.contiguous()?, &cos, &sin)?;
    if dims == size {
        return Ok(turned);
    }
    Tensor::cat(&[turned, x.narrow(3, dims, size - dims)?], 3)
}
