//! RotaryEncoding offers interleaved pairs only; the variant composed has the others.
use burn::nn::{RotaryEncoding, RotaryEncodingConfig};
use burn::tensor::{backend::AutodiffBackend, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn interleaved<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    answer::<B>(t, device, RotaryEncodingConfig::new(16, 8).init(device))
}

pub fn interleaved_time_first<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    answer::<B>(t, device, RotaryEncodingConfig::new(16, 8).init(device))
}

fn answer<B: AutodiffBackend>(t: &Tensors, device: &B::Device, rope: RotaryEncoding<B>) -> Tensors {
    let q = Tensor::<B, 4>::from_data(t["q"].clone(), device).require_grad();
    let dy = Tensor::<B, 4>::from_data(t["dy"].clone(), device);
    let y = rope.forward(q.clone());
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(q.grad(&grads).map(|g| ("dq".to_string(), g.into_data())));
    out
}
