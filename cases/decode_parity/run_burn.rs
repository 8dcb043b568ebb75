use burn::tensor::{backend::AutodiffBackend, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

fn decode<B: AutodiffBackend>(t: &Tensors, device: &B::Device, read: fn(Tensor<B, 2>, Tensor<B, 3>) -> Tensor<B, 2>) -> Tensors {
    let [q, k, v] = ["q", "k", "v"].map(|name| Tensor::<B, 3>::from_data(t[name].clone(), device));
    let [gate, beta] = ["gate", "beta"].map(|name| Tensor::<B, 2>::from_data(t[name].clone(), device));
    let at = |x: &Tensor<B, 3>, i: usize| x.clone().narrow(0, i, 1).flatten::<2>(0, 1);
    let [tokens, heads, _] = q.dims();
    let (mut state, mut out) = (Tensor::<B, 3>::from_data(t["state"].clone(), device), Vec::new());
    for i in 0..tokens {
        state = state * gate.clone().narrow(0, i, 1).reshape([heads, 1, 1]);
        let error = at(&v, i) - read(at(&k, i), state.clone());
        let correction = error * beta.clone().narrow(0, i, 1).reshape([heads, 1]);
        state = state + at(&k, i).unsqueeze_dim::<3>(2) * correction.unsqueeze_dim(1);
        out.push(read(at(&q, i), state.clone()));
    }
    BTreeMap::from([("out".to_string(), Tensor::stack::<3>(out, 0).into_data()), ("state".to_string(), state.into_data())])
}

fn product<B: AutodiffBackend>(weights: Tensor<B, 2>, state: Tensor<B, 3>) -> Tensor<B, 2> {
    weights.unsqueeze_dim::<3>(1).matmul(state).flatten(1, 2)
}

fn ordered<B: AutodiffBackend>(weights: Tensor<B, 2>, state: Tensor<B, 3>) -> Tensor<B, 2> {
    let term = |i: usize| state.clone().narrow(1, i, 1).flatten::<2>(1, 2) * weights.clone().narrow(1, i, 1);
    (1..state.dims()[1]).fold(term(0), |total, i| total + term(i))
}

pub fn exact<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    decode::<B>(t, device, product)
}

pub fn tokens<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    decode::<B>(t, device, product)
}

pub fn sequential<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    decode::<B>(t, device, ordered)
}
