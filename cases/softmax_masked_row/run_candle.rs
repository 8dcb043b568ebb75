use candle_core::{Result, Tensor, Var, D};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn infinity(t: &Tensors) -> Result<Tensors> {
    attention(t, f32::NEG_INFINITY)
}

pub fn lowest(t: &Tensors) -> Result<Tensors> {
    attention(t, f32::MIN)
}

fn attention(t: &Tensors, hidden: f32) -> Result<Tensors> {
    let (q, k, v) = (Var::from_tensor(&t["q"])?, Var::from_tensor(&t["k"])?, Var::from_tensor(&t["v"])?);
    let hidden = Tensor::full(hidden, t["seen"].shape(), q.device())?;
    let mask = t["seen"].ne(0i64)?.where_cond(&hidden.zeros_like()?, &hidden)?;
    let scores = (q.matmul(&k.transpose(2, 3)?.contiguous()?)? * 0.5)?.broadcast_add(&mask)?;
    let y = candle_nn::ops::softmax(&scores, D::Minus1)?.matmul(&v)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), Tensor::cat(&[y.narrow(2, 0, 2)?, y.narrow(2, 3, 2)?], 2)?)]);
    for (name, leaf) in [("dq", &q), ("dk", &k), ("dv", &v)] {
        out.extend(grads.get(leaf).map(|g| (name.to_string(), g.clone())));
    }
    Ok(out)
}
