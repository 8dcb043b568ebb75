use burn::module::Param;
use burn::nn::{attention::generate_autoregressive_mask, loss::CrossEntropyLossConfig, RmsNormConfig, RotaryEncodingConfig};
use burn::tensor::activation::softmax;
use burn::tensor::{DType, Device, FloatDType, Gradients, Int, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

fn leaf<const D: usize>(t: &Tensors, name: &str, device: &Device) -> Tensor<D> {
    Tensor::from_data(t[name].clone(), device).require_grad()
}

fn keep<const D: usize>(out: &mut Tensors, name: &str, leaf: &Tensor<D>, grads: &Gradients) {
    out.extend(leaf.grad(grads).map(|g| (format!("d{name}"), g.into_data())));
}

pub fn tied(t: &Tensors, device: &Device) -> Tensors {
    let (table, w) = (leaf::<2>(t, "table", device), leaf::<2>(t, "w", device));
    let [ids, target] = ["ids", "target"].map(|name| Tensor::<2, Int>::from_data(t[name].clone(), device));
    let h = burn::tensor::module::embedding(table.clone(), ids).flatten::<2>(0, 1);
    let logits = h.matmul(w.clone().transpose()).tanh().matmul(table.clone().transpose());
    let loss = CrossEntropyLossConfig::new().init(device).forward(logits, target.flatten::<1>(0, 1));
    let grads = loss.backward();

    let mut out = BTreeMap::from([("loss".to_string(), loss.into_data())]);
    keep(&mut out, "table", &table, &grads);
    keep(&mut out, "w", &w, &grads);
    out
}

pub fn tiled_heads(t: &Tensors, device: &Device) -> Tensors {
    let [q, k, v] = ["q", "k", "v"].map(|name| leaf::<4>(t, name, device));
    let dy = Tensor::<4>::from_data(t["dy"].clone(), device);
    let (keys, values) = (k.clone().repeat_dim(1, 2), v.clone().repeat_dim(1, 2));
    let p = softmax(q.clone().matmul(keys.transpose()) / 2.0, 3);
    let loss = (p.matmul(values) * dy).sum();
    let grads = loss.backward();

    let mut out = BTreeMap::from([("loss".to_string(), loss.into_data())]);
    for (name, leaf) in [("q", &q), ("k", &k), ("v", &v)] {
        keep(&mut out, name, leaf, &grads);
    }
    out
}

pub fn cast(t: &Tensors, device: &Device) -> Tensors {
    let (alone, beside) = (leaf::<2>(t, "alone", device), leaf::<2>(t, "beside", device));
    let dy = Tensor::<2>::from_data(t["dy"].clone(), device);
    let (here, other) = match t["dy"].dtype() {
        DType::F64 => (FloatDType::F64, FloatDType::F32),
        _ => (FloatDType::F32, FloatDType::F64),
    };
    let there_and_back = |x: &Tensor<2>| x.clone().cast(other).cast(here).powi_scalar(2);
    let loss = ((there_and_back(&alone) + beside.clone() * there_and_back(&beside)) * dy).sum();
    let grads = loss.backward();

    let mut out = BTreeMap::from([("loss".to_string(), loss.into_data())]);
    keep(&mut out, "alone", &alone, &grads);
    keep(&mut out, "beside", &beside, &grads);
    out
}

pub fn llama_attention(t: &Tensors, device: &Device) -> Tensors {
    let x = leaf::<3>(t, "x", device);
    let weights = ["w_q", "w_k", "w_v"].map(|name| leaf::<2>(t, name, device));
    let dy = Tensor::<3>::from_data(t["dy"].clone(), device);
    let [batch, time, channels] = x.dims();
    let mut norm = RmsNormConfig::new(channels).with_epsilon(1e-5).init(device);
    norm.gamma = Param::from_tensor(Tensor::from_data(t["norm"].clone(), device));
    let rotary = RotaryEncodingConfig::new(time, channels / 2).init(device);

    let h = norm.forward(x.clone());
    let [q, k, v] = weights.clone().map(|w| h.clone().matmul(w.transpose().unsqueeze()).reshape([batch, time, 2, channels / 2]).swap_dims(1, 2));
    let scores = rotary.forward(q).matmul(rotary.forward(k).transpose()) / ((channels / 2) as f64).sqrt();
    let mask = generate_autoregressive_mask(batch, time, device).unsqueeze_dim::<4>(1);
    let a = softmax(scores.mask_fill(mask, f32::NEG_INFINITY), 3).matmul(v);
    let loss = (a.swap_dims(1, 2).reshape([batch, time, channels]) * dy).sum();
    let grads = loss.backward();

    let mut out = BTreeMap::from([("loss".to_string(), loss.into_data())]);
    keep(&mut out, "x", &x, &grads);
    out.extend(norm.gamma.grad(&grads).map(|g| ("dnorm".to_string(), g.into_data())));
    for (name, weight) in ["w_q", "w_k", "w_v"].iter().zip(&weights) {
        keep(&mut out, name, weight, &grads);
    }
    out
}

pub fn shared_layer(t: &Tensors, device: &Device) -> Tensors {
    let (x, w) = (leaf::<2>(t, "x", device), leaf::<2>(t, "w", device));
    let dy = Tensor::<2>::from_data(t["dy"].clone(), device);
    let mut h = x.clone();
    for _ in 0..3 {
        h = h.clone() + h.matmul(w.clone().transpose()).tanh();
    }
    let loss = (h * dy).sum();
    let grads = loss.backward();

    let mut out = BTreeMap::from([("loss".to_string(), loss.into_data())]);
    keep(&mut out, "x", &x, &grads);
    keep(&mut out, "w", &w, &grads);
    out
}
