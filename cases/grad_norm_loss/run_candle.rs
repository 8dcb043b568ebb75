use candle_core::{DType, Result, Tensor};
use candle_nn::{loss, ops, BatchNorm, GroupNorm, LayerNorm, Module, ModuleT, RmsNorm};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn layer_norm(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    LayerNorm::new(t["weight"].clone(), t["bias"].clone(), number(a, "eps")).forward(&t["x"])
}

pub fn rms_norm(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    RmsNorm::new(t["weight"].clone(), number(a, "eps")).forward(&t["x"])
}

pub fn group_norm(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let (channels, groups) = (t["x"].dim(1)?, number(a, "groups") as usize);
    GroupNorm::new(t["weight"].clone(), t["bias"].clone(), channels, groups, number(a, "eps"))?.forward(&t["x"])
}

pub fn batch_norm_train(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    batch_norm(t, a, t["weight"].zeros_like()?, t["weight"].ones_like()?)?.forward_t(&t["x"], true)
}

pub fn batch_norm_eval(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let dtype = t["x"].dtype();
    batch_norm(t, a, eighths(&t["mean8"], dtype)?, eighths(&t["var8"], dtype)?)?.forward_t(&t["x"], false)
}

pub fn cross_entropy(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    averaged(a)?;
    loss::cross_entropy(&t["x"], &t["ids"])
}

pub fn perplexity(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    loss::cross_entropy(&t["x"], &t["ids"])?.exp()
}

pub fn nll_loss(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    averaged(a)?;
    loss::nll(&t["x"], &t["ids"])
}

pub fn log_softmax_gather(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    ops::log_softmax(&t["x"], 1)?.gather(&t["ids"].unsqueeze(1)?, 1)?.squeeze(1)
}

pub fn bce_with_logits(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    averaged(a)?;
    loss::binary_cross_entropy_with_logit(&t["x"], &eighths(&t["target"], t["x"].dtype())?)
}

fn batch_norm(t: &Tensors, a: &Attributes, mean: Tensor, var: Tensor) -> Result<BatchNorm> {
    let channels = t["x"].dim(1)?;
    BatchNorm::new(channels, mean, var, t["weight"].clone(), t["bias"].clone(), number(a, "eps"))
}

fn eighths(whole: &Tensor, dtype: DType) -> Result<Tensor> {
    whole.to_dtype(dtype)? / 8.
}

/// candle's losses are means.
fn averaged(a: &Attributes) -> Result<()> {
    match a["reduction"].as_str() {
        Some("mean") => Ok(()),
        _ => candle_core::bail!("not offered: another reduction than the mean"),
    }
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().expect("a number")
}
