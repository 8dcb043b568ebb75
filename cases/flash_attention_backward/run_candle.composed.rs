use candle_core::{Result, Tensor, Var, D};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn full(t: &Tensors) -> Result<Tensors> {
    answer(t, |_, _| false)
}

pub fn causal(t: &Tensors) -> Result<Tensors> {
    answer(t, |query, key| key > query)
}

pub fn masked(t: &Tensors) -> Result<Tensors> {
    answer(t, |query, key| key > query || key + 3 <= query)
}

fn answer(t: &Tensors, hidden: impl Fn(usize, usize) -> bool) -> Result<Tensors> {
    let (q, k, v) = (Var::from_tensor(&t["q"])?, Var::from_tensor(&t["k"])?, Var::from_tensor(&t["v"])?);
    let (queries, keys) = (q.dim(1)?, k.dim(1)?);
    let mask: Vec<f32> = (0..queries * keys).map(|i| if hidden(i / keys, i % keys) { f32::NEG_INFINITY } else { 0. }).collect();
    let mask = Tensor::from_vec(mask, (queries, keys), q.device())?;

    let scores = q.transpose(1, 2)?.contiguous()?.matmul(&k.permute((0, 2, 3, 1))?.contiguous()?)?;
    let scores = (scores / (q.dim(3)? as f64).sqrt())?.broadcast_add(&mask)?;
    let y = candle_nn::ops::softmax(&scores, D::Minus1)?.matmul(&v.transpose(1, 2)?.contiguous()?)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    for (name, leaf) in [("dq", &q), ("dk", &k), ("dv", &v)] {
        out.extend(grads.get(leaf).map(|g| (name.to_string(), g.clone())));
    }
    Ok(out)
}
