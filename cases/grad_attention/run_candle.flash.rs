use candle_core::{DType, Result, Tensor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn sdpa(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    shim(t, None)
}

pub fn sdpa_grouped(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    shim(t, None)
}

pub fn sdpa_bias(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    shim(t, Some(&t["mask"]))
}

pub fn sdpa_scale(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    dispatched(t, a["scale"].as_f64().expect("a scale") as f32, false)
}

pub fn sdpa_causal(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    dispatched(t, scale(t)?, true)
}

pub fn sdpa_causal_rectangle(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    dispatched(t, scale(t)?, true)
}

/// Its types are those that Rust itself has; q, k and v are [B, T, N, H], the answer is [B, N, T, H].
fn shim(t: &Tensors, mask: Option<&Tensor>) -> Result<Tensor> {
    use candle_nn::cpu_flash_attention::run_flash_attn_cpu;
    let (q, k, v, scale) = (time_first(&t["q"])?, time_first(&t["k"])?, time_first(&t["v"])?, scale(t)?);
    match q.dtype() {
        DType::F64 => run_flash_attn_cpu::<f64>(&q, &k, &v, mask, scale, None, None),
        DType::F32 => run_flash_attn_cpu::<f32>(&q, &k, &v, mask, scale, None, None),
        other => candle_core::bail!("not asked in {other:?}: the crate half names its type"),
    }
}

fn dispatched(t: &Tensors, scale: f32, causal: bool) -> Result<Tensor> {
    use candle_nn::attention::{flash_attn, AttnMask};
    let (q, k, v) = (time_first(&t["q"])?, time_first(&t["k"])?, time_first(&t["v"])?);
    let mask = if causal { AttnMask::causal() } else { AttnMask::None };
    match q.dtype() {
        DType::F64 => flash_attn::<f64>(&q, &k, &v, scale, mask, None, None),
        DType::F32 => flash_attn::<f32>(&q, &k, &v, scale, mask, None, None),
        other => candle_core::bail!("not asked in {other:?}: the crate half names its type"),
    }
}

fn scale(t: &Tensors) -> Result<f32> {
    Ok(1. / (t["q"].dim(3)? as f32).sqrt())
}

fn time_first(x: &Tensor) -> Result<Tensor> {
    x.transpose(1, 2)?.contiguous()
}
