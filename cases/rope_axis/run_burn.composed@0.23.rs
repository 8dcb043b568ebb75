//! The formula from tensor operations, with float32 tables.
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn half_split(t: &Tensors, device: &Device) -> Tensors {
    answer(t, device, rotate_halves)
}

pub fn half_split_time_first(t: &Tensors, device: &Device) -> Tensors {
    answer(t, device, |q| rotate_halves(q.swap_dims(1, 2)).swap_dims(1, 2))
}

pub fn interleaved(t: &Tensors, device: &Device) -> Tensors {
    answer(t, device, |q| {
        let [b, h, t, d] = q.dims();
        let halves = q.reshape([b, h, t, d / 2, 2]).swap_dims(3, 4).reshape([b, h, t, d]);
        let turned = rotate_halves(halves);
        turned.reshape([b, h, t, 2, d / 2]).swap_dims(3, 4).reshape([b, h, t, d])
    })
}

fn rotate_halves(q: Tensor<4>) -> Tensor<4> {
    let [_, _, t, d] = q.dims();
    let position: Vec<f32> = (0..t).map(|p| p as f32).collect();
    let position = Tensor::<1>::from_floats(position.as_slice(), &q.device());
    let frequency: Vec<f32> = (0..d).step_by(2).map(|i| 10_000f32.powf(-(i as f32) / d as f32)).collect();
    let frequency = Tensor::<1>::from_floats(frequency.as_slice(), &q.device());
    let angle: Tensor<4> = (position.unsqueeze_dim::<2>(1) * frequency.unsqueeze_dim::<2>(0)).unsqueeze();
    let (cos, sin) = (angle.clone().cos(), angle.sin());

    let halves = q.chunk(2, 3);
    let (a, b) = (halves[0].clone(), halves[1].clone());
    Tensor::cat(vec![a.clone() * cos.clone() - b.clone() * sin.clone(), b * cos + a * sin], 3)
}

fn answer(t: &Tensors, device: &Device, rotate: impl Fn(Tensor<4>) -> Tensor<4>) -> Tensors {
    let q = Tensor::<4>::from_data(t["q"].clone(), device).require_grad();
    let dy = Tensor::<4>::from_data(t["dy"].clone(), device);
    let y = rotate(q.clone());
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(q.grad(&grads).map(|g| ("dq".to_string(), g.into_data())));
    out
}
