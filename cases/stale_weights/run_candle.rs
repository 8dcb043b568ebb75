use candle_core::{Device, Result, Tensor, Var};
use candle_nn::{Embedding, Linear, Module, Optimizer, SGD};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

const COPIES: usize = 1 << 18;

pub fn set_between(t: &Tensors) -> Result<Tensors> {
    let x = Var::from_tensor(&t["x"])?;
    let y = x.sqr()?;
    x.set(&t["new"])?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y), ("after".to_string(), x.as_tensor().clone())]);
    out.extend(grads.get(&x).map(|g| ("dx".to_string(), g.clone())));
    Ok(out)
}

pub fn snapshot(t: &Tensors) -> Result<Tensors> {
    let w = Var::from_tensor(&t["w"])?;
    let before = w.as_tensor().clone();
    let loss = (w.as_tensor() * &t["g"])?.sum_all()?;
    SGD::new(vec![w.clone()], 0.125)?.backward_step(&loss)?;
    Ok(BTreeMap::from([("before".to_string(), before), ("after".to_string(), w.as_tensor().clone())]))
}

pub fn cache_clone(t: &Tensors) -> Result<Tensors> {
    let mut a = candle_nn::kv_cache::KvCache::new(2, 8);
    a.append(&t["prompt"], &t["prompt"])?;
    let mut b = a.clone();
    a.append(&t["first"], &t["first"])?;
    b.append(&t["second"], &t["second"])?;
    let data = |cache: &candle_nn::kv_cache::KvCache| Ok::<_, candle_core::Error>(cache.k()?.expect("it was filled"));
    Ok(BTreeMap::from([("a".to_string(), data(&a)?), ("b".to_string(), data(&b)?)]))
}

pub fn tied(t: &Tensors) -> Result<Tensors> {
    let w = Var::from_tensor(&t["w"])?;
    let embedding = Embedding::new(w.as_tensor().clone(), t["w"].dim(1)?);
    let head = Linear::new(w.as_tensor().clone(), None);
    let y = head.forward(&embedding.forward(&t["ids"])?)?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;
    SGD::new(vec![w.clone()], 0.125)?.step(&grads)?;
    let y_after = head.forward(&embedding.forward(&t["ids"])?)?;

    let mut out = BTreeMap::from([("y".to_string(), y), ("y_after".to_string(), y_after), ("after".to_string(), w.as_tensor().clone())]);
    out.extend(grads.get(&w).map(|g| ("dw".to_string(), g.clone())));
    Ok(out)
}

pub fn kept_view(t: &Tensors) -> Result<Tensors> {
    let w = Var::from_tensor(&t["w"])?;
    let kept = w.t()?;
    let loss = (w.as_tensor() * &t["g"])?.sum_all()?;
    SGD::new(vec![w.clone()], 0.125)?.backward_step(&loss)?;
    Ok(BTreeMap::from([("y".to_string(), t["x"].matmul(&kept)?)]))
}

pub fn race(t: &Tensors) -> Result<Tensors> {
    let device = Device::new_cuda(0)?;
    let x = t["x"].to_device(&device)?;
    let w = Var::zeros((8, 3 * COPIES), x.dtype(), &device)?;
    let mut y = vec![];
    for step in 0..t["w"].dim(0)? {
        let host = t["w"].get(step)?.repeat((1, COPIES))?; // freed at the end of its turn
        w.set(&host.to_device(&device)?)?;
        y.push(x.matmul(&w)?.narrow(1, 3 * COPIES - 3, 3)?);
    }
    Ok(BTreeMap::from([("y".to_string(), Tensor::stack(&y, 0)?.to_device(&Device::Cpu)?)]))
}
