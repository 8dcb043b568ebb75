//! ops::sdpa has kernels for Metal only; on a CPU it is to refuse.

use candle_core::{Result, Tensor, Var};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn full(t: &Tensors) -> Result<Tensors> {
    let (q, k, v) = (Var::from_tensor(&t["q"])?, Var::from_tensor(&t["k"])?, Var::from_tensor(&t["v"])?);
    let heads_first = |x: &Tensor| x.transpose(1, 2)?.contiguous();
    let scale = 1. / (q.dim(3)? as f32).sqrt();
    let y = candle_nn::ops::sdpa(&heads_first(&q)?, &heads_first(&k)?, &heads_first(&v)?, scale, 1.)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    for (name, leaf) in [("dq", &q), ("dk", &k), ("dv", &v)] {
        out.extend(grads.get(leaf).map(|g| (name.to_string(), g.clone())));
    }
    Ok(out)
}
