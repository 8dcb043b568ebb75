use candle_core::{Result, Tensor, Var, D};
use candle_nn::{ops, rotary_emb, Linear, Module};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

fn answer(t: &Tensors, names: &[&str], loss: impl Fn(&Tensors) -> Result<Tensor>) -> Result<Tensors> {
    let mut leaves = t.clone();
    for name in names {
        leaves.insert(name.to_string(), Var::from_tensor(&t[*name])?.into_inner());
    }
    let loss = loss(&leaves)?;
    let grads = loss.backward()?;

    // A gradient that does not exist is left out, not zero-filled.
    let mut out = BTreeMap::from([("loss".to_string(), loss.reshape(1)?)]);
    out.extend(names.iter().filter_map(|name| Some((format!("d{name}"), grads.get(&leaves[*name])?.clone()))));
    Ok(out)
}

pub fn llama_attention(t: &Tensors) -> Result<Tensors> {
    let (b, time, c) = t["x"].dims3()?;
    let (d, dev, dtype) = (c / 2, t["x"].device(), t["x"].dtype());
    let angles: Vec<f64> = (0..time * d / 2).map(|i| (i / (d / 2)) as f64 / 10000f64.powf((i % (d / 2) * 2) as f64 / d as f64)).collect();
    let angles = Tensor::from_vec(angles, (time, d / 2), dev)?;
    let (cos, sin) = (angles.cos()?.to_dtype(dtype)?, angles.sin()?.to_dtype(dtype)?);
    let later: Vec<f64> = (0..time * time).map(|i| if i % time > i / time { f64::NEG_INFINITY } else { 0. }).collect();
    let later = Tensor::from_vec(later, (time, time), dev)?.to_dtype(dtype)?;
    answer(t, &["x", "norm", "w_q", "w_k", "w_v"], |t| {
        let h = ops::rms_norm_slow(&t["x"], &t["norm"], 1e-5)?;
        let heads = |w: &str| Linear::new(t[w].clone(), None).forward(&h)?.reshape((b, time, 2, d))?.transpose(1, 2)?.contiguous();
        let (q, k) = (rotary_emb::rope_i_slow(&heads("w_q")?, &cos, &sin)?, rotary_emb::rope_i_slow(&heads("w_k")?, &cos, &sin)?);
        let scores = (q.matmul(&k.t()?)? / (d as f64).sqrt())?.broadcast_add(&later)?;
        let a = ops::softmax(&scores, D::Minus1)?.matmul(&heads("w_v")?)?;
        (a.transpose(1, 2)?.reshape((b, time, c))? * &t["dy"])?.sum_all()
    })
}
