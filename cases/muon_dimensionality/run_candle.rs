use candle_core::{Result, Tensor, Var};
use candle_nn::optim::{Muon, Optimizer, ParamsMuon};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

fn step(t: &Tensors) -> Result<Tensors> {
    let weight = Var::from_tensor(&t["grad"].zeros_like()?)?;
    let loss = (weight.as_tensor() * &t["grad"])?.sum_all()?;
    let params = ParamsMuon {
        lr: 0.02,
        weight_decay: 0.0,
        ..Default::default()
    };
    Muon::new(vec![weight.clone()], params)?.backward_step(&loss)?;
    Ok(BTreeMap::from([(
        "update".to_string(),
        weight.as_tensor().clone(),
    )]))
}

pub fn linear_wide(t: &Tensors) -> Result<Tensors> {
    step(t)
}

pub fn linear_tall(t: &Tensors) -> Result<Tensors> {
    step(t)
}

pub fn stack(t: &Tensors) -> Result<Tensors> {
    step(t)
}

pub fn kernel(t: &Tensors) -> Result<Tensors> {
    step(t)
}

pub fn embedding(t: &Tensors) -> Result<Tensors> {
    step(t)
}

pub fn vector(t: &Tensors) -> Result<Tensors> {
    step(t)
}
