use candle_core::{DType, Device, Result, Tensor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn add(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_add(&t["b"])
}

pub fn subtract(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_sub(&t["b"])
}

pub fn multiply(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_mul(&t["b"])
}

pub fn less(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_lt(&t["b"])
}

pub fn less_equal(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_le(&t["b"])
}

pub fn equal(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].broadcast_eq(&t["b"])
}

pub fn absolute(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].abs()
}

pub fn negative(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["a"].neg()
}

pub fn sign(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].sign()
}

pub fn sum(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].sum(axis(t, a)?)
}

pub fn mean(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].mean(axis(t, a)?)
}

pub fn cumsum(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].cumsum(axis(t, a)?)
}

/// A comparison answers u8.
pub fn bool_sum(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].to_dtype(DType::U8)?.sum(axis(t, a)?)
}

pub fn to_int(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].to_dtype(DType::I64)
}

pub fn to_float(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].to_dtype(DType::F32)
}

pub fn to_float32(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].to_dtype(DType::F32)
}

pub fn to_bfloat16(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].to_dtype(DType::BF16)
}

pub fn to_float16(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].to_dtype(DType::F16)
}

pub fn arange(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let [start, stop, by] = ["start", "stop", "by"].map(|name| a[name].as_f64().expect("a number"));
    match t["like"].dtype() {
        DType::F64 => Tensor::arange_step(start, stop, by, &Device::Cpu),
        DType::F32 => Tensor::arange_step(start as f32, stop as f32, by as f32, &Device::Cpu),
        _ => candle_core::bail!("not asked: the crate half names its type"),
    }
}

pub fn arange_whole(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let [start, stop, by] = ["start", "stop", "by"].map(|name| a[name].as_i64().expect("a number"));
    Tensor::arange_step(start, stop, by, &Device::Cpu)
}

pub fn arange_down(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let [start, stop, by] = ["start", "stop", "by"].map(|name| a[name].as_i64().expect("a number"));
    Tensor::arange_step(start, stop, by, &Device::Cpu)
}

fn axis(t: &Tensors, a: &Attributes) -> Result<usize> {
    t["x"].normalize_axis(a["axis"].as_i64().expect("an axis"))
}
