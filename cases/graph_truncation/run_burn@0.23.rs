//! Tensors are values here: slice_assign gives a new one.
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn slice_set(t: &Tensors, device: &Device) -> Tensors {
    let [a, b] = ["a", "b"].map(|name| Tensor::<2>::from_data(t[name].clone(), device).require_grad());
    let dy = Tensor::<2>::from_data(t["dy"].clone(), device);
    let y = dy.zeros_like().slice_assign([0..2, 0..3], a.clone()).slice_assign([0..2, 3..8], b.clone());
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(a.grad(&grads).map(|g| ("da".to_string(), g.into_data())));
    out.extend(b.grad(&grads).map(|g| ("db".to_string(), g.into_data())));
    out
}

pub fn masked_loss(t: &Tensors, device: &Device) -> Tensors {
    let x = Tensor::<2>::from_data(t["x"].clone(), device).require_grad();
    let w = Tensor::<1>::from_data(t["w"].clone(), device).require_grad();
    let dy = Tensor::<2>::from_data(t["dy"].clone(), device);
    let y = (x.clone() * w.clone().unsqueeze()).slice_assign([0..1, 0..5], Tensor::zeros([1, 5], device));
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad(&grads).map(|g| ("dx".to_string(), g.into_data())));
    out.extend(w.grad(&grads).map(|g| ("dw".to_string(), g.into_data())));
    out
}

pub fn kv_cache(t: &Tensors, device: &Device) -> Tensors {
    attention(t, device, |x| {
        let cache = x.zeros_like().slice_assign([0..2, 0..3, 0..4, 0..4], x.clone().narrow(2, 0, 4));
        cache.slice_assign([0..2, 0..3, 4..5, 0..4], x.narrow(2, 4, 1))
    })
}

pub fn concat_kv_cache(t: &Tensors, device: &Device) -> Tensors {
    attention(t, device, |x| Tensor::cat(vec![x.clone().narrow(2, 0, 4), x.narrow(2, 4, 1)], 2))
}

fn attention(t: &Tensors, device: &Device, through_cache: impl Fn(Tensor<4>) -> Tensor<4>) -> Tensors {
    let [q, k, v] = ["q", "k", "v"].map(|name| Tensor::<4>::from_data(t[name].clone(), device).require_grad());
    let dy = Tensor::<4>::from_data(t["dy"].clone(), device);
    let y = q.clone().matmul(through_cache(k.clone()).transpose()).matmul(through_cache(v.clone()));
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    for (name, leaf) in [("dq", q), ("dk", k), ("dv", v)] {
        out.extend(leaf.grad(&grads).map(|g| (name.to_string(), g.into_data())));
    }
    out
}
