use candle_core::{DType, Result, Tensor, D};
use candle_nn::kv_cache::KvCache;
use candle_nn::rotary_emb::{rope, rope_i};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn sdpa(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    attend(t, &t["k"], &t["v"], Ok)
}

pub fn sdpa_causal(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    attend(t, &t["k"], &t["v"], |s| seen(&s, |q, k| k <= q))
}

pub fn sdpa_causal_rectangle(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    attend(t, &t["k"], &t["v"], |s| seen(&s, |q, k| k <= q))
}

pub fn sdpa_window(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let left = a["left"].as_u64().expect("a window") as usize;
    attend(t, &t["k"], &t["v"], |s| seen(&s, |q, k| k <= q && q - k <= left))
}

pub fn sdpa_mask(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    attend(t, &t["k"], &t["v"], |s| masked(&s, &t["mask"]))
}

pub fn sdpa_mask_heads(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    attend(t, &t["k"], &t["v"], |s| masked(&s, &t["mask"]))
}

pub fn sdpa_bias(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    attend(t, &t["k"], &t["v"], |s| s.broadcast_add(&t["mask"]))
}

pub fn sdpa_bias_heads(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    attend(t, &t["k"], &t["v"], |s| s.broadcast_add(&t["mask"]))
}

pub fn sdpa_hidden_row(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let y = attend(t, &t["k"], &t["v"], |s| masked(&s, &t["mask"]))?;
    let row = a["row"].as_u64().expect("a row") as usize;
    let after = y.dim(2)? - row - 1;
    Tensor::cat(&[y.narrow(2, 0, row)?, y.narrow(2, row + 1, after)?], 2)
}

pub fn sdpa_grouped(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let groups = t["q"].dim(1)? / t["k"].dim(1)?;
    attend(t, &repeated(&t["k"], groups)?, &repeated(&t["v"], groups)?, Ok)
}

pub fn sdpa_cache(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let past = t["past_k"].dim(2)?;
    let mut cache = KvCache::new(2, past + t["k"].dim(2)?);
    cache.append(&t["past_k"].contiguous()?, &t["past_v"].contiguous()?)?;
    let (k, v) = cache.append(&t["k"].contiguous()?, &t["v"].contiguous()?)?;
    attend(t, &k, &v, |s| seen(&s, |q, k| k <= q + past))
}

pub fn sdpa_alibi(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    let (queries, keys) = (t["q"].dim(2)?, t["k"].dim(2)?);
    let far: Vec<f64> = (0..queries * keys).map(|at| -((at / keys).abs_diff(at % keys) as f64)).collect();
    let far = Tensor::from_vec(far, (1, queries, keys), t["q"].device())?.to_dtype(t["q"].dtype())?;
    let bias = t["slopes"].unsqueeze(1)?.unsqueeze(1)?.broadcast_mul(&far)?;
    attend(t, &t["k"], &t["v"], |s| s.broadcast_add(&bias))
}

pub fn rope_half(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    rotate(t, a, rope)
}

pub fn rope_interleaved(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    rotate(t, a, rope_i)
}

pub fn rope_half_batch(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    rotate(t, a, rope)
}

pub fn rope_interleaved_batch(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    rotate(t, a, rope_i)
}

/// As candle's models write it: on a CPU candle-nn has no attention with a gradient.
fn attend(t: &Tensors, k: &Tensor, v: &Tensor, mask: impl FnOnce(Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let scale = (t["q"].dim(D::Minus1)? as f64).sqrt();
    let scores = (t["q"].matmul(&k.t()?)? / scale)?;
    candle_nn::ops::softmax(&mask(scores)?, D::Minus1)?.matmul(v)
}

fn masked(scores: &Tensor, seen: &Tensor) -> Result<Tensor> {
    let hidden = Tensor::new(f32::NEG_INFINITY, scores.device())?.to_dtype(scores.dtype())?;
    let seen = seen.to_dtype(DType::U8)?.broadcast_as(scores.shape())?;
    seen.where_cond(scores, &hidden.broadcast_as(scores.shape())?)
}

fn seen(scores: &Tensor, sees: impl Fn(usize, usize) -> bool) -> Result<Tensor> {
    let (queries, keys) = (scores.dim(2)?, scores.dim(3)?);
    let all = (0..queries).flat_map(|q| (0..keys).map(move |k| (q, k)));
    let mask: Vec<u8> = all.map(|(q, k)| u8::from(sees(q, k))).collect();
    masked(scores, &Tensor::from_vec(mask, (queries, keys), scores.device())?)
}

/// candle_transformers::utils::repeat_kv
fn repeated(x: &Tensor, groups: usize) -> Result<Tensor> {
    let (batch, heads, keys, size) = x.dims4()?;
    Tensor::cat(&vec![x; groups], 2)?.reshape((batch, heads * groups, keys, size))
}

fn rotate(t: &Tensors, a: &Attributes, rope: impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let (x, number) = (&t["x"], |name: &str| a[name].as_f64().expect("a number"));
    let (time, size, dims) = (x.dim(2)?, x.dim(3)?, number("dims") as usize);
    let rates: Vec<f64> = (0..dims / 2).map(|i| number("scale") * number("base").powf(-2. * i as f64 / dims as f64)).collect();
    let rates = Tensor::new(rates, x.device())?;
    let times = Tensor::arange(0., time as f64, x.device())?;
    // One table, or one for each of the batch.
    let times = match t.get("offset") {
        Some(offset) => offset.to_dtype(DType::F64)?.unsqueeze(1)?.broadcast_add(&times)?,
        None => (times + number("offset"))?,
    };
    let angles = times.unsqueeze(D::Minus1)?.broadcast_mul(&rates)?;
    let (cos, sin) = (angles.cos()?.to_dtype(x.dtype())?, angles.sin()?.to_dtype(x.dtype())?);
    let turned = rope(&x.narrow(3, 0, dims)?.contiguous()?, &cos, &sin)?;
    if dims == size {
        return Ok(turned);
    }
    Tensor::cat(&[turned, x.narrow(3, dims, size - dims)?], 3)
}
