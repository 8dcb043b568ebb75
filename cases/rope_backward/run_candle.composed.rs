use candle_core::{Result, Tensor, Var};
use candle_nn::rotary_emb::{rope_i_slow, rope_slow};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn half_split(t: &Tensors) -> Result<Tensors> {
    answer(t, rope_slow)
}

pub fn interleaved(t: &Tensors) -> Result<Tensors> {
    answer(t, rope_i_slow)
}

pub fn half_split_time_first(t: &Tensors) -> Result<Tensors> {
    answer(t, |q, cos, sin| rope_slow(&q.transpose(1, 2)?, cos, sin)?.transpose(1, 2))
}

fn answer(t: &Tensors, rotate: impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensors> {
    let q = Var::from_tensor(&t["q"])?;
    let y = rotate(&q, &t["cos"], &t["sin"])?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(grads.get(&q).map(|g| ("dq".to_string(), g.clone())));
    Ok(out)
}
