use candle_core::{Result, Tensor, Var, D};
use candle_nn::{ops, Linear, Module};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

const HEADS: usize = 2;

fn block(t: &Tensors) -> Result<Tensor> {
    let (b, time, c) = t["x"].dims3()?;
    let norm = |x: &Tensor, w: &str, b: &str| ops::layer_norm_slow(x, &t[w], &t[b], 2f32.powi(-17));
    let linear = |w: &str, b: Option<&str>| Linear::new(t[w].clone(), b.map(|b| t[b].clone()));
    let later: Vec<u8> = (0..time * time).map(|i| (i % time > i / time) as u8).collect();
    let later = Tensor::from_vec(later, (time, time), t["x"].device())?.broadcast_as((b, HEADS, time, time))?;

    let h = norm(&t["x"], "norm1_w", "norm1_b")?;
    let head = |w: &str| linear(w, None).forward(&h)?.reshape((b, time, HEADS, c / HEADS))?.transpose(1, 2)?.contiguous();
    let scores = (head("w_q")?.matmul(&head("w_k")?.t()?)? / ((c / HEADS) as f64).sqrt())?;
    let minus = Tensor::new(f32::NEG_INFINITY, t["x"].device())?.to_dtype(t["x"].dtype())?.broadcast_as(scores.shape())?;
    let a = ops::softmax(&later.where_cond(&minus, &scores)?, D::Minus1)?.matmul(&head("w_v")?)?;
    let x = (&t["x"] + linear("w_o", None).forward(&a.transpose(1, 2)?.reshape((b, time, c))?)?)?;

    let h = norm(&x, "norm2_w", "norm2_b")?;
    let z = linear("w_up", Some("b_up")).forward(&h)?;
    let gate = (((&z + z.powf(3.)?.affine(0.044715, 0.)?)? * (2. / std::f64::consts::PI).sqrt())?.tanh()? + 1.)?;
    let m = ((z * gate)? / 2.)?;
    x + linear("w_down", Some("b_down")).forward(&m)?
}

pub fn run(t: &Tensors) -> Result<Tensors> {
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
