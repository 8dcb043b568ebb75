use candle_core::{IndexOp, Result, Tensor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn pad_constant(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    if a["value"].as_f64() != Some(0.) {
        candle_core::bail!("not offered: padding with another number than 0")
    }
    let mut x = t["x"].clone();
    for (axis, (before, after)) in pads(a).into_iter().enumerate() {
        x = x.pad_with_zeros(axis, before, after)?;
    }
    Ok(x)
}

pub fn pad_replicate(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let (mut x, pads) = (t["x"].clone(), pads(a));
    for (axis, (before, after)) in (x.rank() - pads.len()..).zip(pads) {
        x = x.pad_with_same(axis, before, after)?;
    }
    Ok(x)
}

pub fn narrow(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].narrow(axis(&t["x"], a)?, size(a, "start"), size(a, "length"))
}

pub fn narrow_outside(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].narrow(axis(&t["x"], a)?, size(a, "start"), size(a, "length"))
}

pub fn slice_update(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].slice_scatter(&t["v"], axis(&t["x"], a)?, size(a, "start"))
}

pub fn slice_update_outside(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].slice_scatter(&t["v"], axis(&t["x"], a)?, size(a, "start"))
}

pub fn slice_step(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    match &cuts(&t["x"], a)?[..] {
        [i] => t["x"].i(i.clone()),
        [i, j] => t["x"].i((i.clone(), j.clone())),
        [i, j, k] => t["x"].i((i.clone(), j.clone(), k.clone())),
        more => candle_core::bail!("not asked of {} axes", more.len()),
    }
}

pub fn unfold(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    t["x"].unfold(axis(&t["x"], a)?, size(a, "size"), size(a, "step"))
}

pub fn slice_assign(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let cuts = cuts(&t["x"], a)?;
    let shape: Vec<usize> = cuts.iter().map(|cut| cut.len()).collect();
    t["x"].slice_assign(&cuts, &t["v"].broadcast_as(shape)?)
}

pub fn assign_overlap(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let (x, by) = (&t["x"], size(a, "by"));
    let axis = axis(x, a)?;
    let kept = x.dim(axis)? - by;
    let (from, to) = if a["forward"] == true { (0, by) } else { (by, 0) };
    x.slice_scatter(&x.narrow(axis, from, kept)?, axis, to)
}

fn axis(x: &Tensor, a: &Attributes) -> Result<usize> {
    x.normalize_axis(a["axis"].as_i64().expect("an axis"))
}

fn size(a: &Attributes, name: &str) -> usize {
    a[name].as_u64().expect("a size") as usize
}

/// Before and after each of the last axes.
fn pads(a: &Attributes) -> Vec<(usize, usize)> {
    let number = |n: &Value| n.as_u64().expect("a size") as usize;
    let pads = a["pads"].as_array().expect("pads");
    pads.iter().map(|both| (number(&both[0]), number(&both[1]))).collect()
}

/// A range for each axis: none has a step, none is counted from the end.
fn cuts(x: &Tensor, a: &Attributes) -> Result<Vec<std::ops::Range<usize>>> {
    let mut out = vec![];
    for (cut, size) in a["slices"].as_array().expect("slices").iter().zip(x.dims()) {
        let size = *size as i64;
        let at = |n: &Value| n.as_i64().map(|n| if n < 0 { n + size } else { n }.clamp(0, size) as usize);
        match (at(&cut[0]), at(&cut[1]), cut[2].as_i64()) {
            (Some(start), Some(stop), Some(1)) => out.push(start..stop.max(start)),
            _ => candle_core::bail!("not offered: a slice with steps"),
        }
    }
    Ok(out)
}
