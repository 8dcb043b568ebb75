use candle_core::{Result, Tensor};
use candle_nn::loss;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn mse(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    averaged(a)?;
    loss::mse(&t["x"], &t["t"])
}

pub fn huber(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    averaged(a)?;
    loss::huber(&t["x"], &t["t"], a["delta"].as_f64().expect("a delta"))
}

/// candle's losses are means.
fn averaged(a: &Attributes) -> Result<()> {
    match a["reduction"].as_str() {
        Some("mean") => Ok(()),
        _ => candle_core::bail!("not offered: another reduction than the mean"),
    }
}
