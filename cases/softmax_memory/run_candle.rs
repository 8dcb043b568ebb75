use candle_core::{Result, Tensor, Var, D};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn forward(t: &Tensors) -> Result<Tensors> {
    Ok(BTreeMap::from([("y".to_string(), candle_nn::ops::softmax(&t["x"], D::Minus1)?)]))
}

pub fn step(t: &Tensors) -> Result<Tensors> {
    let x = Var::from_tensor(&t["x"])?;
    let y = candle_nn::ops::softmax(&x, D::Minus1)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(grads.get(&x).map(|g| ("dx".to_string(), g.clone())));
    Ok(out)
}
