use candle_core::{Result, Tensor, Var};
use candle_nn::{Optimizer, SGD};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn sgd(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let weight = Var::from_tensor(&t["p"].detach())?;
    let mut optimizer = SGD::new(vec![weight.clone()], a["lr"].as_f64().expect("a rate"))?;
    for step in 0..t["g"].dim(0)? {
        optimizer.backward_step(&(weight.as_tensor() * t["g"].get(step)?)?.sum_all()?)?;
    }
    weight.copy()
}
