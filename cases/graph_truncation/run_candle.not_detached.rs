//! With the variable that candle reads before its first backward: gradients then keep their graph.

use candle_core::{Result, Tensor, Var};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn gradient_penalty(t: &Tensors) -> Result<Tensors> {
    std::env::set_var("CANDLE_GRAD_DO_NOT_DETACH", "1");
    let (x, w) = (Var::from_tensor(&t["x"])?, Var::from_tensor(&t["w"])?);
    let first = (x.sqr()?.sqr()? * w.as_tensor())?.sum_all()?.backward()?;
    let Some(y) = first.get(&x) else {
        return Ok(Tensors::new());
    };
    let second = (y * &t["v"])?.sum_all()?.backward()?;
    let mut out = BTreeMap::from([("y".to_string(), y.clone())]);
    out.extend(second.get(&x).map(|g| ("dx".to_string(), g.clone())));
    out.extend(second.get(&w).map(|g| ("dw".to_string(), g.clone())));
    Ok(out)
}
