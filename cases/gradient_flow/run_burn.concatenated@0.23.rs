use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn tiled_heads(t: &Tensors, device: &Device) -> Tensors {
    let [q, k, v] = ["q", "k", "v"].map(|name| Tensor::<4>::from_data(t[name].clone(), device).require_grad());
    let dy = Tensor::<4>::from_data(t["dy"].clone(), device);
    let twice = |x: &Tensor<4>| Tensor::cat(vec![x.clone(), x.clone()], 1);
    let p = softmax(q.clone().matmul(twice(&k).transpose()) / 2.0, 3);
    let loss = (p.matmul(twice(&v)) * dy).sum();
    let grads = loss.backward();

    let mut out = BTreeMap::from([("loss".to_string(), loss.into_data())]);
    for (name, leaf) in [("dq", &q), ("dk", &k), ("dv", &v)] {
        out.extend(leaf.grad(&grads).map(|g| (name.to_string(), g.into_data())));
    }
    out
}
