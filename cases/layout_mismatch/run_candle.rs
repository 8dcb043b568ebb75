use candle_core::{Result, Tensor, Var, D};
use candle_nn::Module;
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

/// What each operation is given: the view itself.
fn laid_out(view: Result<Tensor>) -> Result<Tensor> {
    view
}

pub fn rms_norm(t: &Tensors) -> Result<Tensors> {
    let (x, w) = (var(t, "x")?, var(t, "w")?);
    let layer = candle_nn::RmsNorm::new(w.as_tensor().clone(), 1e-5);
    let y = layer.forward(&laid_out(x.transpose(1, 2))?)?;
    answer(t, y, &[("dx", &x), ("dw", &w)])
}

pub fn layer_norm(t: &Tensors) -> Result<Tensors> {
    let (x, w, b) = (var(t, "x")?, var(t, "w")?, var(t, "b")?);
    let layer = candle_nn::LayerNorm::new(w.as_tensor().clone(), b.as_tensor().clone(), 1e-5);
    let y = layer.forward(&laid_out(x.transpose(1, 2))?)?;
    answer(t, y, &[("dx", &x), ("dw", &w), ("db", &b)])
}

pub fn softmax(t: &Tensors) -> Result<Tensors> {
    let x = var(t, "x")?;
    let y = candle_nn::ops::softmax(&laid_out(x.transpose(1, 2))?, D::Minus1)?;
    answer(t, y, &[("dx", &x)])
}

pub fn shared_right(t: &Tensors) -> Result<Tensors> {
    let (a, b) = (var(t, "a")?, var(t, "b")?);
    let y = laid_out(a.transpose(1, 2))?.matmul(&laid_out(b.broadcast_left(2))?)?;
    answer(t, y, &[("da", &a), ("db", &b)])
}

pub fn shared_left(t: &Tensors) -> Result<Tensors> {
    let (a, b) = (var(t, "a")?, var(t, "b")?);
    let y = laid_out(a.broadcast_left(2))?.matmul(&b)?;
    answer(t, y, &[("da", &a), ("db", &b)])
}

pub fn heads(t: &Tensors) -> Result<Tensors> {
    let (q, k) = (var(t, "q")?, var(t, "k")?);
    let y = laid_out(q.transpose(1, 2))?.matmul(&laid_out(k.permute((0, 2, 3, 1)))?)?;
    answer(t, y, &[("dq", &q), ("dk", &k)])
}

pub fn conv1d(t: &Tensors) -> Result<Tensors> {
    let (x, w) = (var(t, "x")?, var(t, "w")?);
    let y = laid_out(x.transpose(1, 2))?.conv1d(&w, 1, 1, 1, 1)?;
    answer(t, y, &[("dx", &x), ("dw", &w)])
}

pub fn conv1d_kernel(t: &Tensors) -> Result<Tensors> {
    let (x, w) = (var(t, "x")?, var(t, "w")?);
    let y = x.conv1d(&laid_out(w.permute((2, 1, 0)))?, 1, 1, 1, 1)?;
    answer(t, y, &[("dx", &x), ("dw", &w)])
}

pub fn conv2d(t: &Tensors) -> Result<Tensors> {
    let (x, w) = (var(t, "x")?, var(t, "w")?);
    let y = laid_out(x.permute((0, 3, 1, 2)))?.conv2d(&laid_out(w.permute((3, 2, 0, 1)))?, 0, 1, 1, 1)?;
    answer(t, y, &[("dx", &x), ("dw", &w)])
}

pub fn embedding(t: &Tensors) -> Result<Tensors> {
    let w = var(t, "w")?;
    let layer = candle_nn::Embedding::new(w.as_tensor().clone(), 3);
    let y = layer.forward(&laid_out(t["ids"].t())?)?;
    answer(t, y, &[("dw", &w)])
}

fn var(t: &Tensors, name: &str) -> Result<Var> {
    Var::from_tensor(&t[name])
}

fn answer(t: &Tensors, y: Tensor, leaves: &[(&str, &Var)]) -> Result<Tensors> {
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;
    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(leaves.iter().filter_map(|(name, leaf)| Some((name.to_string(), grads.get(leaf)?.clone()))));
    Ok(out)
}
