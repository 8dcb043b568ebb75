//! The formula as one writes it, with moments that are plain tensors.

use candle_core::{Result, Tensor, Var};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn forward(t: &Tensors) -> Result<Tensors> {
    steps(t, 1)
}

pub fn step(t: &Tensors) -> Result<Tensors> {
    steps(t, 40)
}

fn steps(t: &Tensors, count: i32) -> Result<Tensors> {
    let w = Var::from_tensor(&t["w"])?;
    let (mut m, mut v) = (w.zeros_like()?, w.zeros_like()?);
    for step in 1..=count {
        let grads = ((w.sqr()? * &t["g"])?.sum_all()? / 2.)?.backward()?;
        let g = grads.get(&w).expect("sqr and mul have a backward");
        m = ((m * 0.9)? + (g * 0.1)?)?;
        v = ((v * 0.999)? + (g.sqr()? * 0.001)?)?;
        let (m_hat, v_hat) = ((&m / (1. - 0.9f64.powi(step)))?, (&v / (1. - 0.999f64.powi(step)))?);
        let moved = (m_hat / (v_hat.sqrt()? + 1e-8)?)?;
        w.set(&((w.as_tensor() * (1. - 0.125 / 1024.))? - (moved / 1024.)?)?)?;
    }
    Ok(BTreeMap::from([("after".to_string(), w.as_tensor().clone())]))
}
