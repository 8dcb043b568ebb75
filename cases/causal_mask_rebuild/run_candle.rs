use candle_core::{Device, Result, Tensor, D};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn forward(t: &Tensors) -> Result<Tensors> {
    attend(t, &t["causal"], &t["window"])
}

pub fn step(t: &Tensors) -> Result<Tensors> {
    let (time, device) = (t["x"].dim(1)?, t["x"].device());
    attend(t, &mask(time, device, |q, k| k <= q)?, &mask(time, device, |q, k| k <= q && k + 64 > q)?)
}

fn mask(time: usize, device: &Device, seen: impl Fn(usize, usize) -> bool) -> Result<Tensor> {
    let values: Vec<f32> = (0..time)
        .flat_map(|q| (0..time).map(move |k| (q, k)))
        .map(|(q, k)| if seen(q, k) { 0. } else { f32::NEG_INFINITY })
        .collect();
    Tensor::from_vec(values, (time, time), device)
}

fn attend(t: &Tensors, causal: &Tensor, window: &Tensor) -> Result<Tensors> {
    let softmax = |mask| candle_nn::ops::softmax_last_dim(&t["x"].broadcast_add(mask)?);
    Ok(BTreeMap::from([("y_causal".to_string(), softmax(causal)?), ("y_window".to_string(), softmax(window)?)]))
}
