//! Cells that end in different ways, of which some do not compile; nothing here may cost its neighbour.
use candle_core::{Result, Tensor};
use candle_nn::ops;
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

fn answer(y: Tensor) -> Tensors {
    BTreeMap::from([("y".to_string(), y)])
}

pub fn exp(t: &Tensors) -> Result<Tensors> {
    Ok(answer(t["x"].exp()?))
}

/// The framework has no such function.
pub fn forward(t: &Tensors) -> Result<Tensors> {
    Ok(answer(ops::does_not_exist(&t["x"])?))
}

/// Stands on `forward`.
pub fn step(t: &Tensors) -> Result<Tensors> {
    forward(t)
}

/// A method that the framework's type lacks.
pub fn method(t: &Tensors) -> Result<Tensors> {
    Ok(answer(t["x"].does_not_exist()?))
}

/// Its name is the method that `exp` and others call, and it compiles no more than `forward`.
pub fn sqr(t: &Tensors) -> Result<Tensors> {
    Ok(answer(candle_nn::does_not_exist::sqr(&t["x"])?))
}

pub fn square(t: &Tensors) -> Result<Tensors> {
    Ok(answer(t["x"].sqr()?))
}

/// A slip of ours.
pub fn slip(t: &Tensors) -> Result<Tensors> {
    Ok(answer(undefined_name))
}

pub fn panics(t: &Tensors) -> Result<Tensors> {
    Ok(answer(
        t["x"].to_vec1::<f32>().map(|_| t["x"].clone()).unwrap(),
    ))
}

pub fn refuses(t: &Tensors) -> Result<Tensors> {
    Ok(answer(t["x"].matmul(&t["x"])?))
}

pub fn wrong_key(t: &Tensors) -> Result<Tensors> {
    Ok(answer(t["nope"].clone()))
}

pub fn views(t: &Tensors) -> Result<Tensors> {
    Ok(BTreeMap::from([
        ("transposed".to_string(), t["x"].t()?),
        ("whole".to_string(), t["ids"].clone()),
    ]))
}

pub fn gemm(t: &Tensors) -> Result<Tensors> {
    Ok(answer(t["a"].matmul(&t["b"])?))
}
