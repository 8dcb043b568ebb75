use burn::module::Param;
use burn::optim::{GradientsParams, MuonConfig};
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

// A bare parameter in the order [out, in], which is the one that Muon's scale takes it to have.
fn step(grad_oi: Tensor<2>) -> Tensor<2> {
    let weight = Param::from_tensor(grad_oi.zeros_like());
    let loss = (weight.val() * grad_oi).sum();
    let grads = GradientsParams::from_grads(loss.backward(), &weight);
    MuonConfig::new().init().step(0.02, weight, grads).val()
}

fn matrix(t: &Tensors, device: &Device) -> Tensors {
    let update = step(Tensor::from_data(t["grad"].clone(), device));
    BTreeMap::from([("update".to_string(), update.into_data())])
}

pub fn linear_wide(t: &Tensors, device: &Device) -> Tensors {
    matrix(t, device)
}

pub fn linear_tall(t: &Tensors, device: &Device) -> Tensors {
    matrix(t, device)
}

pub fn stack(t: &Tensors, device: &Device) -> Tensors {
    let grad = Tensor::<3>::from_data(t["grad"].clone(), device);
    let each = grad
        .iter_dim(0)
        .map(|g| step(g.squeeze_dim::<2>(0)))
        .collect();
    BTreeMap::from([(
        "update".to_string(),
        Tensor::stack::<3>(each, 0).into_data(),
    )])
}

pub fn kernel(t: &Tensors, device: &Device) -> Tensors {
    let grad = Tensor::<4>::from_data(t["grad"].clone(), device);
    let update = step(grad.clone().flatten::<2>(1, 3)).reshape(grad.dims());
    BTreeMap::from([("update".to_string(), update.into_data())])
}
