use candle_core::{Result, Tensor, Var};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn run(t: &Tensors) -> Result<Tensors> {
    let x = Var::from_tensor(&t["x"])?;
    let y = candle_nn::ops::softmax_last_dim(&x)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(grads.get(&x).map(|g| ("dx".to_string(), g.clone())));
    Ok(out)
}
