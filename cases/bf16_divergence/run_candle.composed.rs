use candle_core::{Result, Tensor, D};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn softmax(t: &Tensors) -> Result<Tensors> {
    let y = candle_nn::ops::softmax(&t["logits"], D::Minus1)?;
    Ok(BTreeMap::from([
        ("uniform".to_string(), y.narrow(0, 0, 1)?),
        ("random".to_string(), y.narrow(0, 1, 1)?),
    ]))
}
