use burn::module::Param;
use burn::nn::LayerNormConfig;
use burn::tensor::{backend::AutodiffBackend, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn run<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    let x = Tensor::<B, 3>::from_data(t["x"].clone(), device).require_grad();
    let w = Tensor::<B, 1>::from_data(t["w"].clone(), device).require_grad();
    let b = Tensor::<B, 1>::from_data(t["b"].clone(), device).require_grad();
    let dy = Tensor::<B, 3>::from_data(t["dy"].clone(), device);
    let mut norm = LayerNormConfig::new(w.dims()[0]).with_epsilon(1e-5).init(device);
    norm.gamma = Param::from_tensor(w.clone());
    norm.beta = Param::from_tensor(b.clone()).into(); // an Option from 0.20 on

    let y = norm.forward(x.clone());
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad(&grads).map(|g| ("dx".to_string(), g.into_data())));
    out.extend(w.grad(&grads).map(|g| ("dw".to_string(), g.into_data())));
    out.extend(b.grad(&grads).map(|g| ("db".to_string(), g.into_data())));
    out
}
