//! Burn clips each parameter by its own norm only: the gradients are clipped by hand, then handed to AdamW.

use burn::module::{Module, Param};
use burn::nn::{attention::generate_autoregressive_mask, loss::CrossEntropyLossConfig, RmsNorm, RotaryEncodingConfig};
use burn::optim::{AdamWConfig, GradientsParams};
use burn::tensor::activation::{silu, softmax};
use burn::tensor::{Device, module::embedding, Int, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;
type W<const D: usize> = Param<Tensor<D>>;
/// Matrices: embedding, head, then four a layer; gains: the last norm, then two a layer.
type Model = (Vec<W<2>>, Vec<W<1>>);

const HEADS: usize = 4;
const EPS: f64 = 7.62939453125e-6;
const MATRICES: [&str; 4] = ["w_qkv", "w_out", "w_gate_up", "w_down"];
const GAINS: [&str; 2] = ["norm1", "norm2"];

fn model(t: &Tensors, device: &Device) -> Model {
    let (mut matrices, mut gains) = (Vec::new(), vec![Param::from_data(t["norm"].clone(), device)]);
    matrices.extend(["embedding", "head"].map(|name| Param::from_data(t[name].clone(), device)));
    for i in 0..t["norm1"].shape()[0] {
        let matrix = |name: &str| Tensor::<3>::from_data(t[name].clone(), device).narrow(0, i, 1).flatten(0, 1);
        matrices.extend(MATRICES.map(|name| Param::from_tensor(matrix(name))));
        let gain = |name: &str| Tensor::<2>::from_data(t[name].clone(), device).narrow(0, i, 1).flatten(0, 1);
        gains.extend(GAINS.map(|name| Param::from_tensor(gain(name))));
    }
    (matrices, gains)
}

fn mean_loss((matrices, gains): &Model, t: &Tensors, device: &Device) -> Tensor<1> {
    let [ids, target] = ["ids", "target"].map(|name| Tensor::<2, Int>::from_data(t[name].clone(), device));
    let norm = |gain: &W<1>, x: Tensor<3>| RmsNorm { gamma: gain.clone(), epsilon: EPS }.forward(x);
    let times = |x: Tensor<3>, w: &W<2>| x.matmul(w.val().unsqueeze());
    let mut x = embedding(matrices[0].val(), ids);
    let [batch, time, channels] = x.dims();
    let mask = generate_autoregressive_mask(batch, time, device).unsqueeze_dim::<4>(1);
    let rotary = RotaryEncodingConfig::new(time, channels / HEADS).init(device);
    for (w, gain) in matrices[2..].chunks(4).zip(gains[1..].chunks(2)) {
        let qkv = times(norm(&gain[0], x.clone()), &w[0]);
        let head = |i: usize| qkv.clone().narrow(2, i * channels, channels).reshape([batch, time, HEADS, channels / HEADS]).swap_dims(1, 2);
        let scores = rotary.forward(head(0)).matmul(rotary.forward(head(1)).transpose()) / ((channels / HEADS) as f64).sqrt();
        let a = softmax(scores.mask_fill(mask.clone(), f32::NEG_INFINITY), 3).matmul(head(2));
        x = x + times(a.swap_dims(1, 2).reshape([batch, time, channels]), &w[1]);
        let parts = times(norm(&gain[1], x.clone()), &w[2]).chunk(2, 2);
        x = x + times(silu(parts[0].clone()) * parts[1].clone(), &w[3]);
    }
    let logits = times(norm(&gains[0], x), &matrices[1]).flatten::<2>(0, 1);
    CrossEntropyLossConfig::new().init(device).forward(logits, target.flatten::<1>(0, 1))
}

pub fn forward(t: &Tensors, device: &Device) -> Tensors {
    let device = &device.clone().without_autodiff();
    let loss = mean_loss(&model(t, device), t, device);
    BTreeMap::from([("loss".to_string(), loss.into_data())])
}

pub fn step(t: &Tensors, device: &Device) -> Tensors {
    let model = model(t, device);
    let loss = mean_loss(&model, t, device);
    let mut grads = GradientsParams::from_grads(loss.backward(), &model);
    let matrices: Vec<_> = model.0.iter().filter_map(|w| Some((w.id, grads.remove::<2>(w.id)?))).collect();
    let gains: Vec<_> = model.1.iter().filter_map(|w| Some((w.id, grads.remove::<1>(w.id)?))).collect();
    let squares = matrices.iter().map(|(_, g)| g.clone().powi_scalar(2).sum()).chain(gains.iter().map(|(_, g)| g.clone().powi_scalar(2).sum()));
    let norm = Tensor::cat(squares.collect(), 0).sum().sqrt();
    let clip = norm.clone().recip().clamp_max(1.0);
    for (id, g) in matrices {
        grads.register(id, g * clip.clone().unsqueeze());
    }
    for (id, g) in gains {
        grads.register(id, g * clip.clone());
    }
    let adamw = AdamWConfig::new().with_epsilon(EPS as f32).with_weight_decay(0.0625);
    let (matrices, gains) = adamw.init().step(0.0078125, model, grads);

    let mut out = BTreeMap::from([("loss".to_string(), loss.into_data()), ("gradient_norm".to_string(), norm.into_data())]);
    out.extend(["embedding", "head"].iter().zip(&matrices).map(|(name, w)| (name.to_string(), w.val().into_data())));
    out.insert("norm".to_string(), gains[0].val().into_data());
    for (i, name) in MATRICES.iter().enumerate() {
        let layers = matrices[2..].iter().skip(i).step_by(4).map(|w| w.val()).collect();
        out.insert(name.to_string(), Tensor::stack::<3>(layers, 0).into_data());
    }
    for (i, name) in GAINS.iter().enumerate() {
        let layers = gains[1..].iter().skip(i).step_by(2).map(|w| w.val()).collect();
        out.insert(name.to_string(), Tensor::stack::<2>(layers, 0).into_data());
    }
    out
}

pub fn gemm(t: &Tensors, device: &Device) -> Tensors {
    let device = &device.clone().without_autodiff();
    let [a, b] = ["a", "b"].map(|name| Tensor::<2>::from_data(t[name].clone(), device));
    BTreeMap::from([("c".to_string(), a.matmul(b).into_data())])
}
