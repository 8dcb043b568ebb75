use burn::tensor::{backend::AutodiffBackend, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn forward<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    let [x, w1, w2] = ["x", "w1", "w2"].map(|name| Tensor::<B::InnerBackend, 2>::from_data(t[name].clone(), device));
    BTreeMap::from([("y".to_string(), x.matmul(w1).tanh().matmul(w2).into_data())])
}

pub fn step<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    let [x, dy] = ["x", "dy"].map(|name| Tensor::<B, 2>::from_data(t[name].clone(), device));
    let [w1, w2] = ["w1", "w2"].map(|name| Tensor::<B, 2>::from_data(t[name].clone(), device).require_grad());
    let mut sums = BTreeMap::new();
    let mut out = Tensors::new();
    for _ in 0..40 {
        let y = x.clone().matmul(w1.clone()).tanh().matmul(w2.clone());
        let grads = (y.clone() * dy.clone()).sum().backward();
        for (name, leaf) in [("dw1", &w1), ("dw2", &w2)] {
            if let Some(gradient) = leaf.grad(&grads) {
                let sum = match sums.remove(name) {
                    Some(sum) => gradient + sum,
                    None => gradient,
                };
                sums.insert(name, sum);
            }
        }
        out.insert("y".to_string(), y.into_data());
    }
    out.extend(sums.into_iter().map(|(name, sum)| (name.to_string(), sum.into_data())));
    out
}
