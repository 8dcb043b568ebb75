use burn::tensor::activation::softmax;
use burn::tensor::{backend::AutodiffBackend, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn forward<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    let x = Tensor::<B::InnerBackend, 3>::from_data(t["x"].clone(), device);
    BTreeMap::from([("y".to_string(), softmax(x, 2).into_data())])
}

pub fn step<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    let x = Tensor::<B, 3>::from_data(t["x"].clone(), device).require_grad();
    let dy = Tensor::<B, 3>::from_data(t["dy"].clone(), device);
    let y = softmax(x.clone(), 2);
    let mut grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad_remove(&mut grads).map(|g| ("dx".to_string(), g.into_data())));
    out
}
