use burn::{
    module::Param,
    nn::RmsNormConfig,
    tensor::{backend::AutodiffBackend, Tensor, TensorData},
};
use std::collections::BTreeMap;

pub fn run<B: AutodiffBackend>(
    t: &BTreeMap<String, TensorData>,
    device: &B::Device,
) -> BTreeMap<String, TensorData> {
    let x = Tensor::<B, 2>::from_data(t["x"].clone(), device).require_grad();
    let mut norm = RmsNormConfig::new(x.dims()[1])
        .with_epsilon(1e-5)
        .init(device);
    norm.gamma = Param::from_tensor(Tensor::from_data(t["w"].clone(), device));
    let y = norm.forward(x.clone());
    let dy = Tensor::from_data(t["dy"].clone(), device);
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad(&grads).map(|g| ("dx".to_string(), g.into_data())));
    out.extend(
        norm.gamma
            .grad(&grads)
            .map(|g| ("dw".to_string(), g.into_data())),
    );
    out
}
