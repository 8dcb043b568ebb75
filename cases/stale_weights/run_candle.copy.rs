//! Copies where the values before are wanted.

use candle_core::{Result, Tensor, Var};
use candle_nn::{Optimizer, SGD};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, Tensor>;

pub fn set_between(t: &Tensors) -> Result<Tensors> {
    let x = Var::from_tensor(&t["x"])?;
    let used = x.copy()?; // the graph keeps this one
    let y = used.sqr()?;
    x.set(&t["new"])?;
    let grads = (&y * &t["dy"])?.sum_all()?.backward()?;

    let mut out = BTreeMap::from([("y".to_string(), y), ("after".to_string(), x.as_tensor().clone())]);
    out.extend(grads.get(&x).map(|g| ("dx".to_string(), g.clone())));
    Ok(out)
}

pub fn snapshot(t: &Tensors) -> Result<Tensors> {
    let w = Var::from_tensor(&t["w"])?;
    let before = w.copy()?;
    let loss = (w.as_tensor() * &t["g"])?.sum_all()?;
    SGD::new(vec![w.clone()], 0.125)?.backward_step(&loss)?;
    Ok(BTreeMap::from([("before".to_string(), before), ("after".to_string(), w.as_tensor().clone())]))
}

pub fn cache_clone(t: &Tensors) -> Result<Tensors> {
    let mut caches = vec![];
    for name in ["first", "second"] {
        let mut cache = candle_nn::kv_cache::KvCache::new(2, 8);
        cache.append(&t["prompt"], &t["prompt"])?;
        caches.push(cache.append(&t[name], &t[name])?.0);
    }
    let b = caches.pop().expect("there are two");
    let a = caches.pop().expect("there are two");
    Ok(BTreeMap::from([("a".to_string(), a), ("b".to_string(), b)]))
}
