//! candle-nn clips no gradients and its AdamW takes none but a backward's own: the store's entries are replaced by the clipped ones.

use candle_core::{Result, Tensor, Var, D};
use candle_nn::{loss, ops, rotary_emb, AdamW, Optimizer, ParamsAdamW};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

const HEADS: usize = 4;
const EPS: f32 = 7.62939453125e-6;

fn layer(x: &Tensor, w: impl Fn(&str) -> Result<Tensor>, (b, time, c): (usize, usize, usize)) -> Result<Tensor> {
    let d = c / HEADS;
    let angle = |i: usize| (i / (d / 2)) as f64 / 10000f64.powf((i % (d / 2) * 2) as f64 / d as f64);
    let angles = Tensor::from_vec((0..time * d / 2).map(angle).collect(), (time, d / 2), x.device())?;
    let (cos, sin) = (angles.cos()?.to_dtype(x.dtype())?, angles.sin()?.to_dtype(x.dtype())?);
    let later: Vec<f32> = (0..time * time).map(|i| if i % time > i / time { f32::NEG_INFINITY } else { 0. }).collect();
    let mask = Tensor::from_vec(later, (time, time), x.device())?;

    // The fused rms_norm, rope_i and softmax_last_dim have no backward: training takes the slow ones.
    let h = ops::rms_norm_slow(x, &w("norm1")?, EPS)?;
    let qkv = h.matmul(&w("w_qkv")?)?.reshape((b, time, 3, HEADS, d))?.permute((2, 0, 3, 1, 4))?.contiguous()?;
    let (q, k) = (rotary_emb::rope_i_slow(&qkv.get(0)?, &cos, &sin)?, rotary_emb::rope_i_slow(&qkv.get(1)?, &cos, &sin)?);
    let scores = (q.matmul(&k.t()?)? / (d as f64).sqrt())?.broadcast_add(&mask)?;
    let a = ops::softmax(&scores, D::Minus1)?.matmul(&qkv.get(2)?)?;
    let x = (x + a.transpose(1, 2)?.reshape((b * time, c))?.matmul(&w("w_out")?)?)?;

    let gate_up = ops::rms_norm_slow(&x, &w("norm2")?, EPS)?.matmul(&w("w_gate_up")?)?.chunk(2, 1)?;
    let m = (gate_up[0].silu()? * &gate_up[1])?;
    x + m.matmul(&w("w_down")?)?
}

fn mean_loss(t: &Tensors) -> Result<Tensor> {
    let (b, time) = t["ids"].dims2()?;
    let mut x = t["embedding"].embedding(&t["ids"].flatten_all()?)?;
    for i in 0..t["norm1"].dim(0)? {
        x = layer(&x, |name| t[name].get(i), (b, time, t["embedding"].dim(1)?))?;
    }
    let logits = ops::rms_norm_slow(&x, &t["norm"], EPS)?.matmul(&t["head"])?;
    loss::cross_entropy(&logits, &t["target"].flatten_all()?)
}

pub fn forward(t: &Tensors) -> Result<Tensors> {
    Ok(BTreeMap::from([("loss".to_string(), mean_loss(t)?.reshape(1)?)]))
}

pub fn step(t: &Tensors) -> Result<Tensors> {
    let (mut leaves, mut vars) = (t.clone(), BTreeMap::new());
    for (name, tensor) in t.iter().filter(|(_, x)| x.dtype().is_float()) {
        let var = Var::from_tensor(tensor)?;
        leaves.insert(name.clone(), var.as_tensor().clone());
        vars.insert(name.clone(), var);
    }
    let params = ParamsAdamW { lr: 0.0078125, beta1: 0.9, beta2: 0.999, eps: EPS as f64, weight_decay: 0.0625 };
    let mut optimizer = AdamW::new(vars.values().cloned().collect(), params)?;
    let loss = mean_loss(&leaves)?;
    let mut grads = loss.backward()?;
    // A parameter without a gradient is not stepped.
    let squares = vars.values().filter_map(|v| grads.get(v)).map(|g| g.sqr()?.sum_all()).collect::<Result<Vec<_>>>()?;
    let norm = Tensor::stack(&squares, 0)?.sum_all()?.sqrt()?;
    let clip = 1f64.min(1. / norm.to_scalar::<f32>()? as f64);
    for var in vars.values() {
        if let Some(grad) = grads.remove(var) {
            grads.insert(var, (grad * clip)?);
        }
    }
    optimizer.step(&grads)?;

    let mut out = BTreeMap::from([("loss".to_string(), loss.reshape(1)?), ("gradient_norm".to_string(), norm.reshape(1)?)]);
    out.extend(vars.into_iter().map(|(name, var)| (name, var.into_inner())));
    Ok(out)
}

pub fn gemm(t: &Tensors) -> Result<Tensors> {
    Ok(BTreeMap::from([("c".to_string(), t["a"].matmul(&t["b"])?)]))
}
