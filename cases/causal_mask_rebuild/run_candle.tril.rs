//! The masks from Tensor::tril2 instead of a vector.

use candle_core::{DType, Result, Tensor};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn forward(t: &Tensors) -> Result<Tensors> {
    attend(t, &t["causal"], &t["window"])
}

pub fn step(t: &Tensors) -> Result<Tensors> {
    let (time, device) = (t["x"].dim(1)?, t["x"].device());
    let tri = Tensor::tril2(time, DType::U8, device)?;
    let hidden = Tensor::full(f32::NEG_INFINITY, (time, time), device)?;
    let zero = hidden.zeros_like()?;
    let causal = tri.where_cond(&zero, &hidden)?;
    let past = tri.narrow(0, 0, time - 64)?.pad_with_zeros(0, 64, 0)?; // further back than the window
    let window = past.where_cond(&hidden, &causal)?;
    attend(t, &causal, &window)
}

fn attend(t: &Tensors, causal: &Tensor, window: &Tensor) -> Result<Tensors> {
    let softmax = |mask| candle_nn::ops::softmax_last_dim(&t["x"].broadcast_add(mask)?);
    Ok(BTreeMap::from([("y_causal".to_string(), softmax(causal)?), ("y_window".to_string(), softmax(window)?)]))
}
