use burn::module::Param;
use burn::nn::RmsNormConfig;
use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn run(t: &Tensors, device: &Device) -> Tensors {
    let x = Tensor::<3>::from_data(t["x"].clone(), device).require_grad();
    let dy = Tensor::<3>::from_data(t["dy"].clone(), device);
    let [_, _, width] = x.dims();
    let mut norm = RmsNormConfig::new(width).with_epsilon(1e-5).init(device);
    norm.gamma = Param::from_tensor(Tensor::from_data(t["w"].clone(), device));

    let y = norm.forward(x.clone());
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad(&grads).map(|g| ("dx".to_string(), g.into_data())));
    out.extend(norm.gamma.grad(&grads).map(|g| ("dw".to_string(), g.into_data())));
    out
}
