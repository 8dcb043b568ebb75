use burn::module::{Module, Param};
use burn::nn::{conv::Conv2dConfig, EmbeddingConfig, Initializer, LinearConfig};
use burn::optim::{GradientsParams, MuonConfig};
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

// One step of a module whose loss is sum(weight * grad), so that the gradient is the given one.
fn step<M: Module, const D: usize>(
    module: M,
    weight: fn(&M) -> &Param<Tensor<D>>,
    grad: Tensor<D>,
) -> Tensor<D> {
    let loss = (weight(&module).val() * grad).sum();
    let grads = GradientsParams::from_grads(loss.backward(), &module);
    let module = MuonConfig::new().init().step(0.02, module, grads);
    weight(&module).val()
}

fn linear(t: &Tensors, device: &Device) -> Tensors {
    let grad_oi = Tensor::<2>::from_data(t["grad"].clone(), device);
    let [d_output, d_input] = grad_oi.dims();
    let layer = LinearConfig::new(d_input, d_output)
        .with_bias(false)
        .with_initializer(Initializer::Zeros)
        .init(device);
    let update_io = step(layer, |m| &m.weight, grad_oi.transpose()); // as Linear stores it
    BTreeMap::from([("update".to_string(), update_io.transpose().into_data())])
}

fn bare<const D: usize>(t: &Tensors, device: &Device) -> Tensors {
    let grad = Tensor::<D>::from_data(t["grad"].clone(), device);
    let weight = Param::from_tensor(grad.zeros_like());
    BTreeMap::from([("update".to_string(), step(weight, |m| m, grad).into_data())])
}

pub fn linear_wide(t: &Tensors, device: &Device) -> Tensors {
    linear(t, device)
}

pub fn linear_tall(t: &Tensors, device: &Device) -> Tensors {
    linear(t, device)
}

pub fn stack(t: &Tensors, device: &Device) -> Tensors {
    bare::<3>(t, device)
}

pub fn kernel(t: &Tensors, device: &Device) -> Tensors {
    let grad = Tensor::<4>::from_data(t["grad"].clone(), device);
    let layer = Conv2dConfig::new([2, 6], [5, 5])
        .with_bias(false)
        .with_initializer(Initializer::Zeros)
        .init(device);
    let update = step(layer, |m| &m.weight, grad);
    BTreeMap::from([("update".to_string(), update.into_data())])
}

pub fn embedding(t: &Tensors, device: &Device) -> Tensors {
    let grad = Tensor::<2>::from_data(t["grad"].clone(), device);
    let layer = EmbeddingConfig::new(16, 4)
        .with_initializer(Initializer::Zeros)
        .init(device);
    let update = step(layer, |m| &m.weight, grad);
    BTreeMap::from([("update".to_string(), update.into_data())])
}

pub fn vector(t: &Tensors, device: &Device) -> Tensors {
    bare::<1>(t, device)
}
