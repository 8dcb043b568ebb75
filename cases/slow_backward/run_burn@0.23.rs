//! One pre-norm transformer block; the weights are [in, out], as burn::nn::Linear keeps them.

use burn::module::Param;
use burn::nn::{attention::generate_autoregressive_mask, Linear, RmsNorm};
use burn::tensor::activation::{silu, softmax};
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

const HEADS: usize = 4;
const EPS: f64 = 1e-5;
const NORMS: [&str; 2] = ["norm1", "norm2"];
const WEIGHTS: [&str; 5] = ["w_qkv", "w_out", "w_gate", "w_up", "w_down"];

struct Block {
    norms: [RmsNorm; 2],
    linears: [Linear; 5],
}

impl Block {
    fn new(t: &Tensors, device: &Device) -> Self {
        let norm = |name| RmsNorm { gamma: Param::from_data(t[name].clone(), device), epsilon: EPS };
        let linear = |name| Linear { weight: Param::from_data(t[name].clone(), device), bias: None };
        Self { norms: NORMS.map(norm), linears: WEIGHTS.map(linear) }
    }

    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let [batch, time, channels] = x.dims();
        let [qkv, out, gate, up, down] = &self.linears;
        let head = |i: usize, qkv: &Tensor<3>| {
            qkv.clone().narrow(2, i * channels, channels).reshape([batch, time, HEADS, channels / HEADS]).swap_dims(1, 2)
        };
        let mask = generate_autoregressive_mask(batch, time, &x.device()).unsqueeze_dim::<4>(1);

        let qkv = qkv.forward(self.norms[0].forward(x.clone()));
        let scores = head(0, &qkv).matmul(head(1, &qkv).transpose()) / ((channels / HEADS) as f64).sqrt();
        let a = softmax(scores.mask_fill(mask, f32::NEG_INFINITY), 3).matmul(head(2, &qkv));
        let x = x + out.forward(a.swap_dims(1, 2).reshape([batch, time, channels]));

        let h = self.norms[1].forward(x.clone());
        x + down.forward(silu(gate.forward(h.clone())) * up.forward(h))
    }
}

pub fn forward(t: &Tensors, device: &Device) -> Tensors {
    let device = &device.clone().without_autodiff();
    let x = Tensor::from_data(t["x"].clone(), device);
    let y = Block::new(t, device).forward(x);
    BTreeMap::from([("y".to_string(), y.into_data())])
}

pub fn step(t: &Tensors, device: &Device) -> Tensors {
    let x = Tensor::<3>::from_data(t["x"].clone(), device).require_grad();
    let block = Block::new(t, device);
    let y = block.forward(x.clone());
    let dy = Tensor::from_data(t["dy"].clone(), device);
    let mut grads = (y.clone() * dy).sum().backward();

    // A gradient that does not exist is left out, not zero-filled. Taken out of `grads`, it is not copied.
    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad_remove(&mut grads).map(|g| ("dx".to_string(), g.into_data())));
    for (name, norm) in NORMS.iter().zip(&block.norms) {
        out.extend(norm.gamma.grad_remove(&mut grads).map(|g| (format!("d{name}"), g.into_data())));
    }
    for (name, linear) in WEIGHTS.iter().zip(&block.linears) {
        out.extend(linear.weight.grad_remove(&mut grads).map(|g| (format!("d{name}"), g.into_data())));
    }
    out
}

pub fn gemm(t: &Tensors, device: &Device) -> Tensors {
    let device = &device.clone().without_autodiff();
    let [a, b] = ["a", "b"].map(|name| Tensor::<2>::from_data(t[name].clone(), device));
    BTreeMap::from([("c".to_string(), a.matmul(b).into_data())])
}
