use burn::nn::{loss::CrossEntropyLossConfig, PositionalEncodingConfig, RotaryEncodingConfig};
use burn::tensor::activation::softmax;
use burn::tensor::{Device, module::embedding, Int, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

const HEADS: usize = 2;

fn both(
    t: &Tensors,
    device: &Device,
    place: impl Fn(Tensor<3>) -> Tensor<3>,
    turn: impl Fn(Tensor<4>) -> Tensor<4>,
) -> Tensors {
    let [table, w_q, w_k, w_v, head] = ["table", "w_q", "w_k", "w_v", "head"].map(|name| Tensor::<2>::from_data(t[name].clone(), device));
    let [order, target] = ["order", "target"].map(|name| Tensor::<1, Int>::from_data(t[name].clone(), device));
    let ids = Tensor::<2, Int>::from_data(t["ids"].clone(), device);
    let nll = |ids: Tensor<2, Int>| {
        let x = place(embedding(table.clone(), ids));
        let [batch, time, channels] = x.dims();
        let heads = |w: &Tensor<2>| x.clone().matmul(w.clone().transpose().unsqueeze()).reshape([batch, time, HEADS, channels / HEADS]).swap_dims(1, 2);
        let scores = turn(heads(&w_q)).matmul(turn(heads(&w_k)).transpose()) / ((channels / HEADS) as f64).sqrt();
        let a = softmax(scores, 3).matmul(heads(&w_v)).swap_dims(1, 2).reshape([batch, time, channels]);
        let logits = a.narrow(1, time - 1, 1).flatten::<2>(1, 2).matmul(head.clone().transpose());
        CrossEntropyLossConfig::new().init(device).forward(logits, target.clone())
    };
    let time = ids.dims()[1];
    let shuffled = Tensor::cat(vec![ids.clone().select(1, order), ids.clone().narrow(1, time - 1, 1)], 1);
    let (ordered, shuffled) = (nll(ids), nll(shuffled));
    let effect = (shuffled.clone() - ordered.clone()).into_data();
    let out = [("nll", ordered.into_data()), ("nll_shuffled", shuffled.into_data()), ("effect", effect)];
    out.map(|(name, data)| (name.to_string(), data)).into()
}

pub fn rotary(t: &Tensors, device: &Device) -> Tensors {
    let rotary = RotaryEncodingConfig::new(8, 8).init(device);
    both(t, device, |x| x, |x| rotary.forward(x))
}

pub fn learned(t: &Tensors, device: &Device) -> Tensors {
    let position = Tensor::<2>::from_data(t["position"].clone(), device);
    both(t, device, |x| x + position.clone().unsqueeze(), |x| x)
}

pub fn sinusoidal(t: &Tensors, device: &Device) -> Tensors {
    let sines = PositionalEncodingConfig::new(16).with_max_sequence_size(8).init(device);
    both(t, device, |x| sines.forward(x), |x| x)
}
