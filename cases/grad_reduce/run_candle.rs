use candle_core::{Result, Tensor};
use candle_nn::ops;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn sum(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    match (axes(a), kept(a)) {
        (None, false) => t["x"].sum_all(),
        (None, true) => t["x"].sum_keepdim(every(t)),
        (Some(axes), false) => t["x"].sum(axes),
        (Some(axes), true) => t["x"].sum_keepdim(axes),
    }
}

pub fn mean(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    match (axes(a), kept(a)) {
        (None, false) => t["x"].mean_all(),
        (None, true) => t["x"].mean_keepdim(every(t)),
        (Some(axes), false) => t["x"].mean(axes),
        (Some(axes), true) => t["x"].mean_keepdim(axes),
    }
}

pub fn max(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let axis = axis(t, a)?;
    if kept(a) {
        t["x"].max_keepdim(axis)
    } else {
        t["x"].max(axis)
    }
}

pub fn min(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let axis = axis(t, a)?;
    if kept(a) {
        t["x"].min_keepdim(axis)
    } else {
        t["x"].min(axis)
    }
}

pub fn amax(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    match (axes(a).as_deref(), kept(a)) {
        (None, false) => t["x"].max_all(),
        (Some([axis]), false) => t["x"].max(*axis),
        (Some([axis]), true) => t["x"].max_keepdim(*axis),
        _ => candle_core::bail!("not offered: a maximum over these axes"),
    }
}

pub fn amin(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    match (axes(a).as_deref(), kept(a)) {
        (None, false) => t["x"].min_all(),
        (Some([axis]), false) => t["x"].min(*axis),
        (Some([axis]), true) => t["x"].min_keepdim(*axis),
        _ => candle_core::bail!("not offered: a minimum over these axes"),
    }
}

pub fn var(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    match (axes(a).as_deref(), a["correction"].as_u64(), kept(a)) {
        (Some([axis]), Some(1), false) => t["x"].var(*axis),
        (Some([axis]), Some(1), true) => t["x"].var_keepdim(*axis),
        _ => candle_core::bail!("not offered: a biased variance, or one over these axes"),
    }
}

pub fn norm_l2(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    if axes(a).is_some() || kept(a) {
        candle_core::bail!("not offered: a norm over some axes")
    }
    t["x"].norm()
}

pub fn logsumexp(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    if kept(a) {
        candle_core::bail!("not offered: keeping the axes of log_sum_exp")
    }
    t["x"].log_sum_exp(axes(a).unwrap_or_else(|| every(t)))
}

pub fn softmax(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    ops::softmax(&t["x"], axis(t, a)?)
}

pub fn log_softmax(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    ops::log_softmax(&t["x"], axis(t, a)?)
}

pub fn argmax(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let axis = axis(t, a)?;
    if kept(a) {
        t["x"].argmax_keepdim(axis)
    } else {
        t["x"].argmax(axis)
    }
}

pub fn argmin(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let axis = axis(t, a)?;
    if kept(a) {
        t["x"].argmin_keepdim(axis)
    } else {
        t["x"].argmin(axis)
    }
}

fn axis(t: &Tensors, a: &Attributes) -> Result<usize> {
    t["x"].normalize_axis(a["axis"].as_i64().expect("an axis"))
}

/// None: over all of them.
fn axes(a: &Attributes) -> Option<Vec<usize>> {
    let axes = a["axes"].as_array()?.iter();
    Some(axes.map(|n| n.as_u64().expect("an axis") as usize).collect())
}

fn every(t: &Tensors) -> Vec<usize> {
    (0..t["x"].rank()).collect()
}

fn kept(a: &Attributes) -> bool {
    a["keepdims"].as_bool().expect("keepdims")
}
