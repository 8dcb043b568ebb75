use candle_core::{Result, Tensor};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

fn decode(t: &Tensors, read: impl Fn(&Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensors> {
    let (mut state, mut out) = (t["state"].clone(), Vec::new());
    for i in 0..t["q"].dim(0)? {
        let at = |name: &str| t[name].get(i);
        state = state.broadcast_mul(&at("gate")?.unsqueeze(1)?.unsqueeze(2)?)?;
        let error = (at("v")? - read(&at("k")?, &state)?)?;
        let correction = error.broadcast_mul(&at("beta")?.unsqueeze(1)?)?;
        state = (state + at("k")?.unsqueeze(2)?.broadcast_mul(&correction.unsqueeze(1)?)?)?;
        out.push(read(&at("q")?, &state)?);
    }
    Ok(BTreeMap::from([("out".to_string(), Tensor::stack(&out, 0)?), ("state".to_string(), state)]))
}

fn product(weights: &Tensor, state: &Tensor) -> Result<Tensor> {
    weights.unsqueeze(1)?.matmul(state)?.squeeze(1)
}

fn ordered(weights: &Tensor, state: &Tensor) -> Result<Tensor> {
    let term = |i: usize| state.narrow(1, i, 1)?.squeeze(1)?.broadcast_mul(&weights.narrow(1, i, 1)?);
    (1..state.dim(1)?).try_fold(term(0)?, |total, i| total + term(i)?)
}

pub fn exact(t: &Tensors) -> Result<Tensors> {
    decode(t, product)
}

pub fn tokens(t: &Tensors) -> Result<Tensors> {
    decode(t, product)
}

pub fn sequential(t: &Tensors) -> Result<Tensors> {
    decode(t, ordered)
}
