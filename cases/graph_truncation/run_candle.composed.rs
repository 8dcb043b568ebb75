//! The same values from operations that record a graph.

use candle_core::{Result, Tensor, Var};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn slice_set(t: &Tensors) -> Result<Tensors> {
    let (a, b) = (Var::from_tensor(&t["a"])?, Var::from_tensor(&t["b"])?);
    let y = Tensor::cat(&[a.as_tensor(), b.as_tensor()], 1)?;
    answer(t, y, &[("da", &a), ("db", &b)])
}

pub fn masked_loss(t: &Tensors) -> Result<Tensors> {
    let (x, w) = (Var::from_tensor(&t["x"])?, Var::from_tensor(&t["w"])?);
    let kept = Tensor::new(&[[0f32], [1.], [1.], [1.]], x.device())?;
    let y = x.broadcast_mul(&w)?.broadcast_mul(&kept)?;
    answer(t, y, &[("dx", &x), ("dw", &w)])
}

pub fn kv_cache(t: &Tensors) -> Result<Tensors> {
    attention(t)
}

pub fn concat_kv_cache(t: &Tensors) -> Result<Tensors> {
    attention(t)
}

pub fn quantized(t: &Tensors) -> Result<Tensors> {
    use candle_core::quantized::{GgmlDType, QTensor};
    let x = Var::from_tensor(&t["x"])?;
    let w = QTensor::quantize(&t["w"], GgmlDType::Q8_0)?.dequantize(x.device())?;
    let y = x.matmul(&w.t()?)?;
    answer(t, y, &[("dx", &x)])
}

fn attention(t: &Tensors) -> Result<Tensors> {
    let (q, k, v) = (Var::from_tensor(&t["q"])?, Var::from_tensor(&t["k"])?, Var::from_tensor(&t["v"])?);
    let keys = Tensor::cat(&[k.narrow(2, 0, 4)?, k.narrow(2, 4, 1)?], 2)?;
    let values = Tensor::cat(&[v.narrow(2, 0, 4)?, v.narrow(2, 4, 1)?], 2)?;
    let y = q.matmul(&keys.transpose(2, 3)?.contiguous()?)?.matmul(&values.contiguous()?)?;
    answer(t, y, &[("dq", &q), ("dk", &k), ("dv", &v)])
}

fn answer(t: &Tensors, y: Tensor, leaves: &[(&str, &Var)]) -> Result<Tensors> {
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;
    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(leaves.iter().filter_map(|(name, leaf)| Some((name.to_string(), grads.get(leaf)?.clone()))));
    Ok(out)
}
