use candle_core::{Result, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;
type Attributes = Map<String, Value>;

pub fn adam(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    train(t, a, 0.)
}

pub fn adam_half(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    train(t, a, 0.)
}

pub fn adam_absent(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    train(t, a, 0.)
}

pub fn adamw(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    train(t, a, number(a, "decay"))
}

pub fn adamw_default(t: &Tensors, a: &Attributes) -> Result<Tensor> {
    let lr = number(a, "lr");
    steps(t, a, ParamsAdamW { lr, ..Default::default() })
}

/// candle's one Adam is AdamW.
fn train(t: &Tensors, a: &Attributes, weight_decay: f64) -> Result<Tensor> {
    let (lr, beta1, beta2, eps) = (number(a, "lr"), number(a, "beta1"), number(a, "beta2"), number(a, "eps"));
    steps(t, a, ParamsAdamW { lr, beta1, beta2, eps, weight_decay })
}

/// A step without a gradient is one of a loss that another parameter makes.
fn steps(t: &Tensors, a: &Attributes, params: ParamsAdamW) -> Result<Tensor> {
    let (weight, other) = (Var::from_tensor(&t["p"].detach())?, Var::zeros((), t["p"].dtype(), t["p"].device())?);
    let mut optimizer = AdamW::new(vec![weight.clone(), other.clone()], params)?;
    let absent = a.get("absent").and_then(Value::as_array).cloned().unwrap_or_default();
    for step in 0..t["g"].dim(0)? {
        let used = if absent.contains(&step.into()) { other.sqr()? } else { (weight.as_tensor() * t["g"].get(step)?)? };
        optimizer.backward_step(&used.sum_all()?)?;
    }
    weight.copy()
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().expect("a number")
}
