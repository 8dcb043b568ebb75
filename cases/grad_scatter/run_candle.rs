use candle_core::{Result, Tensor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn scatter(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].scatter(&t["ids"], &t["v"], axis(t, a)?)
}

pub fn scatter_add(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].scatter_add(&t["ids"], &t["v"], axis(t, a)?)
}

pub fn scatter_add_outside(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].scatter_add(&t["ids"], &t["v"], axis(t, a)?)
}

pub fn rows_add(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].index_add(&t["ids"], &t["v"], 0)
}

pub fn rows_add_outside(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].index_add(&t["ids"], &t["v"], 0)
}

pub fn index_add(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].index_add(&t["ids"], &t["v"], axis(t, a)?)
}

fn axis(t: &Tensors, a: &Attributes) -> Result<usize> {
    t["x"].normalize_axis(a["axis"].as_i64().expect("an axis"))
}
