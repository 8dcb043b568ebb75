//! [batch, time, heads, width] turned to the layout that RotaryEncoding documents, and back.
use burn::nn::RotaryEncodingConfig;
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn interleaved_time_first(t: &Tensors, device: &Device) -> Tensors {
    let q = Tensor::<4>::from_data(t["q"].clone(), device).require_grad();
    let dy = Tensor::<4>::from_data(t["dy"].clone(), device);
    let rope = RotaryEncodingConfig::new(16, 8).init(device);
    let y = rope.forward(q.clone().swap_dims(1, 2)).swap_dims(1, 2);
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(q.grad(&grads).map(|g| ("dq".to_string(), g.into_data())));
    out
}
