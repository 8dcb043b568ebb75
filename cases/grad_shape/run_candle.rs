use candle_core::{DType, Result, Tensor};
use candle_nn::ops;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn cat(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    Tensor::cat(&[&t["a"], &t["b"], &t["c"]], t["a"].normalize_axis(whole(a, "axis"))?)
}

pub fn stack(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    Tensor::stack(&[&t["a"], &t["b"]], new_axis(&t["a"], a))
}

pub fn tile(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].repeat(sizes(a, "counts"))
}

pub fn broadcast_to(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].broadcast_as(sizes(a, "shape"))
}

pub fn flip(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].flip(&sizes(a, "axes"))
}

/// An axis at a time.
pub fn roll(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let shifts = a["shifts"].as_array().expect("shifts").iter();
    let mut x = t["x"].clone();
    for (axis, shift) in sizes(a, "axes").into_iter().zip(shifts) {
        x = x.roll(shift.as_i64().expect("a shift") as i32, axis)?;
    }
    Ok(x)
}

pub fn permute(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].permute(sizes(a, "order"))
}

pub fn swapaxes(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let x = &t["x"];
    x.transpose(x.normalize_axis(whole(a, "axis1"))?, x.normalize_axis(whole(a, "axis2"))?)
}

pub fn reshape(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let shape: Vec<i64> = a["shape"].as_array().expect("a shape").iter().filter_map(Value::as_i64).collect();
    match shape[..] {
        [-1] => t["x"].reshape(((),)),
        [rows, -1] => t["x"].reshape((rows as usize, ())),
        [-1, columns] => t["x"].reshape(((), columns as usize)),
        _ => t["x"].reshape(sizes(a, "shape")),
    }
}

pub fn flatten(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].flatten_from(1)
}

pub fn squeeze(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].squeeze(t["x"].normalize_axis(whole(a, "axis"))?)
}

pub fn unsqueeze(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].unsqueeze(new_axis(&t["x"], a))
}

pub fn meshgrid(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let parts = Tensor::meshgrid(&[&t["a"], &t["b"]], a["indexing"] == "xy")?;
    Tensor::cat(&[parts[0].flatten_all()?, parts[1].flatten_all()?], 0)
}

pub fn clone(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].copy()? + &t["x"]
}

pub fn contiguous(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    t["x"].contiguous()
}

pub fn cast(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    there_and_back(&t["x"], a)
}

pub fn cast_factor(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    &t["x"] * there_and_back(&t["x"], a)?
}

pub fn detach_sum(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    &t["x"] + t["x"].sqr()?.detach()
}

pub fn detach_factor(t: &Tensors, _: &Attributes) -> Result<Tensor> {
    (&t["a"] * &t["b"])? * t["b"].detach()
}

pub fn pixel_shuffle(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    ops::pixel_shuffle(&t["x"], whole(a, "factor") as usize)
}

pub fn pixel_unshuffle(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    ops::pixel_unshuffle(&t["x"], whole(a, "factor") as usize)
}

fn there_and_back(x: &Tensor, a: &Attributes) -> Result<Tensor> {
    let through = match a["through"].as_str() {
        Some("bfloat16") => DType::BF16,
        Some("float16") => DType::F16,
        Some("float32") => DType::F32,
        _ => DType::F64,
    };
    x.to_dtype(through)?.to_dtype(x.dtype())
}

fn whole(a: &Attributes, name: &str) -> i64 {
    a[name].as_i64().expect("a whole number")
}

fn sizes(a: &Attributes, name: &str) -> Vec<usize> {
    let sizes = a[name].as_array().expect("sizes");
    sizes.iter().map(|n| n.as_u64().expect("a size") as usize).collect()
}

/// One more axis than the tensor has is counted.
fn new_axis(x: &Tensor, a: &Attributes) -> usize {
    whole(a, "axis").rem_euclid(x.rank() as i64 + 1) as usize
}
