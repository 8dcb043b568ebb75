use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn run(t: &Tensors, device: &Device) -> Tensors {
    let x = Tensor::<4>::from_data(t["x"].clone(), device).require_grad();
    let dy = Tensor::<4>::from_data(t["dy"].clone(), device);
    let y = softmax(x.clone(), 3);
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad(&grads).map(|g| ("dx".to_string(), g.into_data())));
    out
}
