use candle_core::{Result, Tensor};
use candle_nn::{Linear, Module};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn matmul(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].matmul(&t["b"])
}

pub fn matmul_long(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].matmul(&t["b"])
}

pub fn matmul_empty(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].matmul(&t["b"])
}

pub fn bmm(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].matmul(&t["b"])
}

pub fn matmul_batched(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_matmul(&t["b"])
}

pub fn mv(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].mv(&t["b"])
}

pub fn dot(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].dot(&t["b"])
}

pub fn linear(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    Linear::new(t["weight"].clone(), t.get("bias").cloned()).forward(&t["x"])
}

pub fn linear_long(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    Linear::new(t["weight"].clone(), t.get("bias").cloned()).forward(&t["x"])
}

pub fn add_row(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].broadcast_add(&t["row"])
}

pub fn linear_plain(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    Linear::new(t["weight"].clone(), t.get("bias").cloned()).forward(&t["x"])
}

pub fn gram(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].matmul(&t["x"].t()?)
}

pub fn squared(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].matmul(&t["x"])
}
