use burn::tensor::{backend::AutodiffBackend, Int, Tensor, TensorData};
use std::collections::BTreeMap;

pub fn run<B: AutodiffBackend>(
    t: &BTreeMap<String, TensorData>,
    device: &B::Device,
) -> BTreeMap<String, TensorData> {
    let x = Tensor::<B, 2>::from_data(t["x"].clone(), device);
    let ids = Tensor::<B, 1, Int>::from_data(t["ids"].clone(), device);
    BTreeMap::from([
        ("square".to_string(), (x.clone() * x.clone()).into_data()),
        ("transposed".to_string(), x.transpose().into_data()),
        ("whole".to_string(), ids.into_data()),
    ])
}
