use candle_core::{Result, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW, RmsNorm};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

const EPS: f64 = 1.0 / 67_108_864.0;

// forward and ops::layer_norm have no gradient; these are the paths that training takes.
pub fn rms_norm(t: &Tensors) -> Result<Tensors> {
    let (x, w) = (Var::from_tensor(&t["x"])?, Var::from_tensor(&t["w"])?);
    let y = RmsNorm::new(w.as_tensor().clone(), EPS).forward_diff(&x)?;
    answer(t, y, &[("dx", &x), ("dw", &w)])
}

pub fn layer_norm(t: &Tensors) -> Result<Tensors> {
    let (x, w, b) = (Var::from_tensor(&t["x"])?, Var::from_tensor(&t["w"])?, Var::from_tensor(&t["b"])?);
    let y = candle_nn::ops::layer_norm_slow(&x, &w, &b, EPS as f32)?;
    answer(t, y, &[("dx", &x), ("dw", &w), ("db", &b)])
}

pub fn adam(t: &Tensors) -> Result<Tensors> {
    let w = Var::from_tensor(&t["w"])?;
    let params = ParamsAdamW { lr: 1.0 / 16.0, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0 };
    let mut optimizer = AdamW::new(vec![w.clone()], params)?;
    for step in 0..3 {
        optimizer.backward_step(&(w.as_tensor() * t["g"].get(step)?)?.sum_all()?)?;
    }
    Ok(BTreeMap::from([("after".to_string(), w.as_tensor().clone())]))
}

fn answer(t: &Tensors, y: Tensor, leaves: &[(&str, &Var)]) -> Result<Tensors> {
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;
    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(leaves.iter().filter_map(|(name, leaf)| Some((name.to_string(), grads.get(leaf)?.clone()))));
    Ok(out)
}
