use candle_core::{Result, Tensor};
use candle_nn::ops;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn layer_norm(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    ops::layer_norm_slow(&t["x"], &t["weight"], &t["bias"], eps(a))
}

pub fn rms_norm(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    ops::rms_norm_slow(&t["x"], &t["weight"], eps(a))
}

fn eps(a: &Attributes) -> f32 {
    a["eps"].as_f64().expect("an epsilon") as f32
}
