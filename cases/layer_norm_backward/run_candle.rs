use candle_core::{Result, Tensor, Var};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn run(t: &Tensors) -> Result<Tensors> {
    let x = Var::from_tensor(&t["x"])?;
    let w = Var::from_tensor(&t["w"])?;
    let b = Var::from_tensor(&t["b"])?;
    let y = candle_nn::ops::layer_norm(&x, &w, &b, 1e-5)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(grads.get(&x).map(|g| ("dx".to_string(), g.clone())));
    out.extend(grads.get(&w).map(|g| ("dw".to_string(), g.clone())));
    out.extend(grads.get(&b).map(|g| ("db".to_string(), g.clone())));
    Ok(out)
}
