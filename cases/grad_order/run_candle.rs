use candle_core::{Result, Tensor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn cumsum(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].cumsum(axis(t, a)?)
}

pub fn sort(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    if axis(t, a)? + 1 != t["x"].rank() {
        candle_core::bail!("not offered: another axis than the last")
    }
    Ok(t["x"].contiguous()?.sort_last_dim(true)?.0)
}

fn axis(t: &Tensors, a: &Attributes) -> Result<usize> {
    t["x"].normalize_axis(a["axis"].as_i64().expect("an axis"))
}
