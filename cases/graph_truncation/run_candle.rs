use candle_core::{Result, Tensor, Var};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn slice_set(t: &Tensors) -> Result<Tensors> {
    let (a, b) = (Var::from_tensor(&t["a"])?, Var::from_tensor(&t["b"])?);
    let y = t["dy"].zeros_like()?;
    y.slice_set(&a, 1, 0)?;
    y.slice_set(&b, 1, 3)?;
    answer(t, y, &[("da", &a), ("db", &b)])
}

pub fn masked_loss(t: &Tensors) -> Result<Tensors> {
    let (x, w) = (Var::from_tensor(&t["x"])?, Var::from_tensor(&t["w"])?);
    let y = x.broadcast_mul(&w)?;
    y.slice_set(&y.narrow(0, 0, 1)?.zeros_like()?, 0, 0)?;
    answer(t, y, &[("dx", &x), ("dw", &w)])
}

pub fn kv_cache(t: &Tensors) -> Result<Tensors> {
    let mut cache = candle_nn::kv_cache::KvCache::new(2, 8);
    attention(t, |k, v| cache.append(k, v))
}

pub fn concat_kv_cache(t: &Tensors) -> Result<Tensors> {
    let mut cache = candle_nn::kv_cache::ConcatKvCache::new(2);
    attention(t, |k, v| cache.append(k, v))
}

pub fn quantized(t: &Tensors) -> Result<Tensors> {
    use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
    use candle_core::Module;
    let x = Var::from_tensor(&t["x"])?;
    let layer = QMatMul::from_qtensor(QTensor::quantize(&t["w"], GgmlDType::Q8_0)?)?;
    let y = layer.forward(&x)?;
    answer(t, y, &[("dx", &x)])
}

pub fn gradient_penalty(t: &Tensors) -> Result<Tensors> {
    let (x, w) = (Var::from_tensor(&t["x"])?, Var::from_tensor(&t["w"])?);
    let first = (x.sqr()?.sqr()? * w.as_tensor())?.sum_all()?.backward()?;
    let Some(y) = first.get(&x) else {
        return Ok(Tensors::new());
    };
    let second = (y * &t["v"])?.sum_all()?.backward()?;
    let mut out = BTreeMap::from([("y".to_string(), y.clone())]);
    out.extend(second.get(&x).map(|g| ("dx".to_string(), g.clone())));
    out.extend(second.get(&w).map(|g| ("dw".to_string(), g.clone())));
    Ok(out)
}

/// The prompt's four positions, then the last token's.
fn attention(t: &Tensors, mut append: impl FnMut(&Tensor, &Tensor) -> Result<(Tensor, Tensor)>) -> Result<Tensors> {
    let (q, k, v) = (Var::from_tensor(&t["q"])?, Var::from_tensor(&t["k"])?, Var::from_tensor(&t["v"])?);
    append(&k.narrow(2, 0, 4)?.contiguous()?, &v.narrow(2, 0, 4)?.contiguous()?)?;
    let (keys, values) = append(&k.narrow(2, 4, 1)?.contiguous()?, &v.narrow(2, 4, 1)?.contiguous()?)?;
    let y = q.matmul(&keys.transpose(2, 3)?.contiguous()?)?.matmul(&values.contiguous()?)?;
    answer(t, y, &[("dq", &q), ("dk", &k), ("dv", &v)])
}

fn answer(t: &Tensors, y: Tensor, leaves: &[(&str, &Var)]) -> Result<Tensors> {
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;
    let mut out = BTreeMap::from([("y".to_string(), y)]);
    out.extend(leaves.iter().filter_map(|(name, leaf)| Some((name.to_string(), grads.get(leaf)?.clone()))));
    Ok(out)
}
