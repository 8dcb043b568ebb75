use candle_core::{Result, Tensor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn square(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].sqr()
}

pub fn reciprocal(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].recip()
}

pub fn sqrt(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].sqrt()
}

pub fn exp(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].exp()
}

pub fn log(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].log()
}

pub fn sin(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].sin()
}

pub fn cos(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].cos()
}

pub fn tanh(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].tanh()
}

pub fn erf(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].erf()
}

pub fn absolute(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].abs()
}

pub fn neg(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].neg()
}

pub fn sign(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].sign()
}

pub fn floor(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].floor()
}

pub fn ceil(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].ceil()
}
