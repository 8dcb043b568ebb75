use candle_core::{DType, Result, Tensor, Var, D};
use candle_nn::{loss, ops, rotary_emb, Embedding, Linear, Module};
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

pub fn tied(t: &Tensors) -> Result<Tensors> {
    answer(t, &["table", "w"], |t| {
        let h = Embedding::new(t["table"].clone(), 4).forward(&t["ids"])?;
        let z = Linear::new(t["w"].clone(), None).forward(&h)?.tanh()?;
        let logits = Linear::new(t["table"].clone(), None).forward(&z)?.flatten_to(1)?;
        loss::cross_entropy(&logits, &t["target"].flatten_all()?)
    })
}

pub fn tiled_heads(t: &Tensors) -> Result<Tensors> {
    answer(t, &["q", "k", "v"], |t| {
        let (k, v) = (t["k"].repeat((1, 2, 1, 1))?, t["v"].repeat((1, 2, 1, 1))?);
        let p = ops::softmax(&(t["q"].matmul(&k.t()?)? / 2.)?, D::Minus1)?;
        (p.matmul(&v)? * &t["dy"])?.sum_all()
    })
}

pub fn cast(t: &Tensors) -> Result<Tensors> {
    let dtype = t["dy"].dtype();
    let other = if dtype == DType::F64 { DType::F32 } else { DType::F64 };
    answer(t, &["alone", "beside"], |t| {
        let there_and_back = |name: &str| t[name].to_dtype(other)?.to_dtype(dtype)?.sqr();
        let y = (there_and_back("alone")? + (&t["beside"] * there_and_back("beside")?)?)?;
        (y * &t["dy"])?.sum_all()
    })
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
        let h = ops::rms_norm(&t["x"], &t["norm"], 1e-5)?;
        let heads = |w: &str| Linear::new(t[w].clone(), None).forward(&h)?.reshape((b, time, 2, d))?.transpose(1, 2)?.contiguous();
        let (q, k) = (rotary_emb::rope_i(&heads("w_q")?, &cos, &sin)?, rotary_emb::rope_i(&heads("w_k")?, &cos, &sin)?);
        let scores = (q.matmul(&k.t()?)? / (d as f64).sqrt())?.broadcast_add(&later)?;
        let a = ops::softmax_last_dim(&scores)?.matmul(&heads("w_v")?)?;
        (a.transpose(1, 2)?.reshape((b, time, c))? * &t["dy"])?.sum_all()
    })
}

pub fn shared_layer(t: &Tensors) -> Result<Tensors> {
    answer(t, &["x", "w"], |t| {
        let layer = Linear::new(t["w"].clone(), None);
        let mut x = t["x"].clone();
        for _ in 0..3 {
            x = (&x + layer.forward(&x)?.tanh()?)?;
        }
        (x * &t["dy"])?.sum_all()
    })
}
