//! One pre-norm transformer block; the weights are [in, out], tokens are flat between the attentions.

use candle_core::{Result, Tensor, Var, D};
use candle_nn::ops;
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

const HEADS: usize = 4;
const EPS: f32 = 1e-5;

fn block(t: &Tensors) -> Result<Tensor> {
    let (batch, time, channels) = t["x"].dims3()?;
    let x = t["x"].reshape((batch * time, channels))?;
    let later: Vec<f32> = (0..time * time).map(|i| if i % time > i / time { f32::NEG_INFINITY } else { 0. }).collect();
    let mask = Tensor::from_vec(later, (time, time), x.device())?;

    // ops::rms_norm and ops::softmax_last_dim are fused and have no backward: training takes rms_norm_slow and softmax.
    let h = ops::rms_norm_slow(&x, &t["norm1"], EPS)?;
    let qkv = h.matmul(&t["w_qkv"])?.reshape((batch, time, 3, HEADS, channels / HEADS))?;
    let qkv = qkv.permute((2, 0, 3, 1, 4))?.contiguous()?;
    let (q, k, v) = (qkv.get(0)?, qkv.get(1)?, qkv.get(2)?);
    let scores = (q.matmul(&k.t()?)? / ((channels / HEADS) as f64).sqrt())?;
    let a = ops::softmax(&scores.broadcast_add(&mask)?, D::Minus1)?.matmul(&v)?;
    let a = a.transpose(1, 2)?.reshape((batch * time, channels))?;
    let x = (x + a.matmul(&t["w_out"])?)?;

    let h = ops::rms_norm_slow(&x, &t["norm2"], EPS)?;
    let m = (h.matmul(&t["w_gate"])?.silu()? * h.matmul(&t["w_up"])?)?;
    (x + m.matmul(&t["w_down"])?)?.reshape((batch, time, channels))
}

pub fn forward(t: &Tensors) -> Result<Tensors> {
    Ok(BTreeMap::from([("y".to_string(), block(t)?)]))
}

pub fn step(t: &Tensors) -> Result<Tensors> {
    let mut leaves = Tensors::new();
    for (name, tensor) in t.iter().filter(|(name, _)| *name != "dy") {
        leaves.insert(name.clone(), Var::from_tensor(tensor)?.into_inner());
    }
    let y = block(&leaves)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    // A gradient that does not exist is left out, not zero-filled.
    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(leaves.iter().filter_map(|(name, leaf)| Some((format!("d{name}"), grads.get(leaf)?.clone()))));
    Ok(out)
}

pub fn gemm(t: &Tensors) -> Result<Tensors> {
    Ok(BTreeMap::from([("c".to_string(), t["a"].matmul(&t["b"])?)]))
}
