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

pub fn interleaved_time_first(t: &Tensors) -> Result<Tensors> {
    answer(t, |q, cos, sin| rope_i_slow(&q.transpose(1, 2)?, cos, sin)?.transpose(1, 2))
}

fn answer(t: &Tensors, rotate: impl Fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensors> {
    let q = Var::from_tensor(&t["q"])?;
    let (cos, sin) = tables(&q)?;
    let y = rotate(&q, &cos, &sin)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(grads.get(&q).map(|g| ("dq".to_string(), g.clone())));
    Ok(out)
}

/// cos and sin for as many positions as the model may see, here 16.
fn tables(q: &Tensor) -> Result<(Tensor, Tensor)> {
    let d = q.dim(3)?;
    let frequency: Vec<f32> = (0..d).step_by(2).map(|i| 10_000f32.powf(-(i as f32) / d as f32)).collect();
    let frequency = Tensor::from_vec(frequency, (1, d / 2), q.device())?;
    let position = Tensor::arange(0f32, 16f32, q.device())?.reshape((16, 1))?;
    let angle = position.matmul(&frequency)?;
    Ok((angle.cos()?.to_dtype(q.dtype())?, angle.sin()?.to_dtype(q.dtype())?))
}
