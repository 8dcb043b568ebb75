//! The formula as one writes it, in the tensor's own type.

use candle_core::{Result, Tensor, Var, D};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

const EPS: f64 = 1.0 / 67_108_864.0;

pub fn rms_norm(t: &Tensors) -> Result<Tensors> {
    let (x, w) = (Var::from_tensor(&t["x"])?, Var::from_tensor(&t["w"])?);
    let root = (x.sqr()?.mean_keepdim(D::Minus1)? + EPS)?.sqrt()?;
    let y = x.broadcast_div(&root)?.broadcast_mul(&w)?;
    answer(t, y, &[("dx", &x), ("dw", &w)])
}

pub fn layer_norm(t: &Tensors) -> Result<Tensors> {
    let (x, w, b) = (Var::from_tensor(&t["x"])?, Var::from_tensor(&t["w"])?, Var::from_tensor(&t["b"])?);
    let centred = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
    let root = (centred.sqr()?.mean_keepdim(D::Minus1)? + EPS)?.sqrt()?;
    let y = centred.broadcast_div(&root)?.broadcast_mul(&w)?.broadcast_add(&b)?;
    answer(t, y, &[("dx", &x), ("dw", &w), ("db", &b)])
}

fn answer(t: &Tensors, y: Tensor, leaves: &[(&str, &Var)]) -> Result<Tensors> {
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;
    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(leaves.iter().filter_map(|(name, leaf)| Some((name.to_string(), grads.get(leaf)?.clone()))));
    Ok(out)
}
