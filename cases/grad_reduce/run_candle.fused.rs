use candle_core::{Result, Tensor};
use candle_nn::ops;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn softmax(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let x = &t["x"];
    let axis = x.normalize_axis(a["axis"].as_i64().expect("an axis"))?;
    if axis + 1 != x.rank() {
        candle_core::bail!("not offered: another axis than the last")
    }
    ops::softmax_last_dim(x)
}
