use burn::tensor::{Device, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;

pub fn run(t: &Tensors, device: &Device) -> Tensors {
    let x = Tensor::<3>::from_data(t["x"].clone(), device).require_grad();
    let w = Tensor::<1>::from_data(t["w"].clone(), device).require_grad();
    let dy = Tensor::<3>::from_data(t["dy"].clone(), device);

    let rms = (x.clone().powi_scalar(2).mean_dim(2) + 1e-5).sqrt();
    let y = x.clone() / rms * w.clone().unsqueeze();
    let grads = (y.clone() * dy).sum().backward();

    let mut out = BTreeMap::from([("y".to_string(), y.into_data())]);
    out.extend(x.grad(&grads).map(|g| ("dx".to_string(), g.into_data())));
    out.extend(w.grad(&grads).map(|g| ("dw".to_string(), g.into_data())));
    out
}
