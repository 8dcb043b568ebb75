use burn::module::Param;
use burn::nn::{loss::CrossEntropyLossConfig, EmbeddingConfig, Initializer};
use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::{activation, Device, Int, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

// The two parts of an answer, cut along an axis.
fn parts<const D: usize>(
    y: Tensor<D>,
    axis: usize,
    names: [&str; 2],
) -> Tensors {
    let half = y.dims()[axis] / 2;
    BTreeMap::from([
        (
            names[0].to_string(),
            y.clone().narrow(axis, 0, half).into_data(),
        ),
        (names[1].to_string(), y.narrow(axis, half, half).into_data()),
    ])
}

pub fn sum(t: &Tensors, device: &Device) -> Tensors {
    let sum = |x: &TensorData| {
        Tensor::<2>::from_data(x.clone(), device)
            .sum_dim(1)
            .flatten::<1>(0, 1)
    };
    t.iter()
        .map(|(name, x)| (name.clone(), sum(x).into_data()))
        .collect()
}

pub fn mean(t: &Tensors, device: &Device) -> Tensors {
    let mean = |x: &TensorData| {
        Tensor::<2>::from_data(x.clone(), device)
            .mean_dim(1)
            .flatten::<1>(0, 1)
    };
    t.iter()
        .map(|(name, x)| (name.clone(), mean(x).into_data()))
        .collect()
}

pub fn softmax(t: &Tensors, device: &Device) -> Tensors {
    let logits = Tensor::<2>::from_data(t["logits"].clone(), device);
    parts(activation::softmax(logits, 1), 0, ["uniform", "random"])
}

pub fn cross_entropy(t: &Tensors, device: &Device) -> Tensors {
    let all_logits = Tensor::<2>::from_data(t["logits"].clone(), device);
    let all_targets = Tensor::<1, Int>::from_data(t["target"].clone(), device);
    let mut out = BTreeMap::new();
    for (row, name) in ["uniform", "random"].into_iter().enumerate() {
        let logits = all_logits.clone().narrow(0, row, 1).detach().require_grad();
        let target = all_targets.clone().narrow(0, row, 1);
        let loss = CrossEntropyLossConfig::new()
            .init(device)
            .forward(logits.clone(), target);
        let grads = loss.backward();
        out.insert(format!("loss_{name}"), loss.into_data());
        out.extend(
            logits
                .grad(&grads)
                .map(|g| (format!("dlogits_{name}"), g.into_data())),
        );
    }
    out
}

pub fn bias_grad(t: &Tensors, device: &Device) -> Tensors {
    let dy = Tensor::<2>::from_data(t["dy"].clone(), device);
    let bias = Tensor::<1>::zeros([4], device).require_grad();
    let y = dy.zeros_like() + bias.clone().unsqueeze();
    let grads = (y * dy).sum().backward();
    bias.grad(&grads).map_or(BTreeMap::new(), |g| {
        parts(Tensor::<1>::from_inner(g), 0, ["ones", "random"])
    })
}

pub fn embedding_grad(t: &Tensors, device: &Device) -> Tensors {
    let dy = Tensor::<2>::from_data(t["dy"].clone(), device);
    let ids = Tensor::<1, Int>::from_data(t["ids"].clone(), device);
    let table = EmbeddingConfig::new(8, 4)
        .with_initializer(Initializer::Zeros)
        .init(device);
    let y = table.forward(ids.unsqueeze());
    let grads = (y * dy.unsqueeze()).sum().backward();
    table.weight.grad(&grads).map_or(BTreeMap::new(), |g| {
        parts(Tensor::<2>::from_inner(g), 1, ["ones", "random"])
    })
}

pub fn update_stall(t: &Tensors, device: &Device) -> Tensors {
    let grad = Tensor::<2>::from_data(t["grad"].clone(), device);
    let mut weight = Param::from_tensor(Tensor::<2>::from_data(t["weight"].clone(), device));
    let mut optimizer = SgdConfig::new().init();
    for _ in 0..100 {
        let loss = (weight.val() * grad.clone()).sum();
        let grads = GradientsParams::from_grads(loss.backward(), &weight);
        weight = optimizer.step(1.0 / 1024.0, weight, grads);
    }
    parts(weight.val(), 0, ["ones", "random"])
}
