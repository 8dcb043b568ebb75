use burn::module::Param;
use burn::optim::{GradientsParams, Optimizer, SgdConfig};
use burn::tensor::{backend::AutodiffBackend, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;
type Stack<B> = Vec<Param<Tensor<B, 2>>>;

pub fn run<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    let [x, target] = ["x", "target"].map(|name| Tensor::<B, 2>::from_data(t[name].clone(), device));
    let w = Tensor::<B, 3>::from_data(t["w"].clone(), device);
    let depth = w.dims()[0];
    let layer = |i| Param::from_tensor(w.clone().narrow(0, i, 1).flatten(0, 1));
    let mut stack: Stack<B> = (0..depth).map(layer).collect();
    let mut optimizer = SgdConfig::new().init::<B, Stack<B>>();
    let mut losses = Vec::new();
    for _ in 0..3 {
        let branch = |x: Tensor<B, 2>, w: &Param<Tensor<B, 2>>| x.clone() + x.matmul(w.val()).tanh() / 16.0;
        let loss = (stack.iter().fold(x.clone(), branch) - target.clone()).powi_scalar(2).mean();
        let grads = GradientsParams::from_grads(loss.backward(), &stack);
        stack = optimizer.step(2.0, stack, grads);
        losses.push(loss);
    }
    let w = Tensor::stack::<3>(stack.iter().map(|w| w.val()).collect(), 0);
    BTreeMap::from([("losses".to_string(), Tensor::cat(losses, 0).into_data()), ("w".to_string(), w.into_data())])
}
