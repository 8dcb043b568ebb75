use candle_core::{DType, Result, Tensor, Var};
use candle_nn::{Optimizer, SGD};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn update_stall(t: &Tensors) -> Result<Tensors> {
    let dtype = t["weight"].dtype();
    let wide = if dtype == DType::BF16 {
        DType::F32
    } else {
        dtype
    };
    let master = Var::from_tensor(&t["weight"].to_dtype(wide)?)?;
    let mut optimizer = SGD::new(vec![master.clone()], 1.0 / 1024.0)?;
    for _ in 0..100 {
        let loss = (master.to_dtype(dtype)? * &t["grad"])?.sum_all()?;
        optimizer.backward_step(&loss)?;
    }
    let weight = master.to_dtype(dtype)?;
    Ok(BTreeMap::from([
        ("ones".to_string(), weight.narrow(0, 0, 1)?),
        ("random".to_string(), weight.narrow(0, 1, 1)?),
    ]))
}
