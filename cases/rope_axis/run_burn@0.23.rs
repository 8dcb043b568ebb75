//! RotaryEncoding offers interleaved pairs only; the variant composed has the others.
use burn::nn::{RotaryEncoding, RotaryEncodingConfig};
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn interleaved(t: &Tensors, device: &Device) -> Tensors {
    answer(t, device, RotaryEncodingConfig::new(16, 8).init(device))
}

pub fn interleaved_time_first(t: &Tensors, device: &Device) -> Tensors {
    answer(t, device, RotaryEncodingConfig::new(16, 8).init(device))
}

fn answer(t: &Tensors, device: &Device, rope: RotaryEncoding) -> Tensors {
    let q = Tensor::<4>::from_data(t["q"].clone(), device).require_grad();
    let dy = Tensor::<4>::from_data(t["dy"].clone(), device);
    let y = rope.forward(q.clone());
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(q.grad(&grads).map(|g| ("dq".to_string(), g.into_data())));
    out
}
