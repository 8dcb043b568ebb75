use burn::module::Param;
use burn::nn::LinearConfig;
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn rank3(t: &Tensors, device: &Device) -> Tensors {
    linear::<3>(t, device)
}

pub fn rank4(t: &Tensors, device: &Device) -> Tensors {
    linear::<4>(t, device)
}

fn linear<const D: usize>(t: &Tensors, device: &Device) -> Tensors {
    let x = Tensor::<D>::from_data(t["x"].clone(), device).require_grad();
    let w = Tensor::<2>::from_data(t["w"].clone(), device);
    let [outputs, inputs] = w.dims();
    let mut layer = LinearConfig::new(inputs, outputs).init(device);
    layer.weight = Param::from_tensor(w.transpose()); // Burn stores [inputs, outputs]
    layer.bias = Some(Param::from_tensor(Tensor::from_data(t["b"].clone(), device)));

    let y = layer.forward(x.clone().swap_dims(D - 2, D - 1));
    let dy = Tensor::from_data(t["dy"].clone(), device);
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad(&grads).map(|g| ("dx".to_string(), g.into_data())));
    out.extend(layer.weight.grad(&grads).map(|g| ("dw".to_string(), g.transpose().into_data())));
    out.extend(layer.bias.and_then(|b| b.grad(&grads)).map(|g| ("db".to_string(), g.into_data())));
    out
}
