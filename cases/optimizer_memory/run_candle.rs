use candle_core::{Result, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn forward(t: &Tensors) -> Result<Tensors> {
    steps(t, 1)
}

pub fn step(t: &Tensors) -> Result<Tensors> {
    steps(t, 40)
}

fn steps(t: &Tensors, count: usize) -> Result<Tensors> {
    let w = Var::from_tensor(&t["w"])?;
    let params = ParamsAdamW { lr: 1.0 / 1024.0, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.125 };
    let mut optimizer = AdamW::new(vec![w.clone()], params)?;
    for _ in 0..count {
        optimizer.backward_step(&((w.sqr()? * &t["g"])?.sum_all()? / 2.)?)?;
    }
    Ok(BTreeMap::from([("after".to_string(), w.as_tensor().clone())]))
}
