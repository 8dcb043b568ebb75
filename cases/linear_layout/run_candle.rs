use candle_core::{Result, Tensor, Var, D};
use candle_nn::{Linear, Module};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn rank3(t: &Tensors) -> Result<Tensors> {
    linear(t)
}

pub fn rank4(t: &Tensors) -> Result<Tensors> {
    linear(t)
}

fn linear(t: &Tensors) -> Result<Tensors> {
    let x = Var::from_tensor(&t["x"])?;
    let w = Var::from_tensor(&t["w"])?;
    let b = Var::from_tensor(&t["b"])?;
    let layer = Linear::new(w.as_tensor().clone(), Some(b.as_tensor().clone()));
    let y = layer.forward(&x.transpose(D::Minus1, D::Minus2)?)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(grads.get(&x).map(|g| ("dx".to_string(), g.clone())));
    out.extend(grads.get(&w).map(|g| ("dw".to_string(), g.clone())));
    out.extend(grads.get(&b).map(|g| ("db".to_string(), g.clone())));
    Ok(out)
}
