//! Weights and moments in float32, given back in the asked type.

use candle_core::{DType, Result, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn adam(t: &Tensors) -> Result<Tensors> {
    let dtype = t["w"].dtype();
    let w = Var::from_tensor(&t["w"].to_dtype(DType::F32)?)?;
    let params = ParamsAdamW { lr: 1.0 / 16.0, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0 };
    let mut optimizer = AdamW::new(vec![w.clone()], params)?;
    for step in 0..3 {
        optimizer.backward_step(&(w.to_dtype(dtype)? * t["g"].get(step)?)?.sum_all()?)?;
    }
    Ok(BTreeMap::from([("after".to_string(), w.to_dtype(dtype)?)]))
}
