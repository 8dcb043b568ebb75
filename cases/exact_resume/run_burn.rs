use burn::module::{Module, Param};
use burn::optim::{momentum::MomentumConfig, AdamWConfig, GradientsParams, Optimizer, SgdConfig};
use burn::record::{BinBytesRecorder, FullPrecisionSettings, Recorder};
use burn::tensor::{backend::AutodiffBackend, Tensor, TensorData};
use std::collections::BTreeMap;

type Tensors = BTreeMap<String, TensorData>;
type Weight<B> = Param<Tensor<B, 2>>;
type Saver = BinBytesRecorder<FullPrecisionSettings>; // the precision of DefaultRecorder

const STEPS: usize = 6;
const AFTER: usize = 3;

fn train<B: AutodiffBackend, O: Optimizer<Weight<B>, B>>(make: impl Fn() -> O, t: &Tensors, stop: usize, device: &B::Device) -> (Tensor<B, 1>, Tensor<B, 2>) {
    let [x, target] = ["x", "target"].map(|name| Tensor::<B, 3>::from_data(t[name].clone(), device));
    let mut w: Weight<B> = Param::from_tensor(Tensor::from_data(t["w"].clone(), device));
    let (mut optimizer, mut losses) = (make(), Vec::new());
    for i in 0..STEPS {
        if i == stop {
            let saver = Saver::default();
            let saved = (saver.record(w.clone().into_record(), ()).unwrap(), saver.record(optimizer.to_record(), ()).unwrap());
            w = Weight::<B>::from_tensor(Tensor::zeros([5, 6], device)).load_record(saver.load(saved.0, device).unwrap());
            optimizer = make().load_record(saver.load(saved.1, device).unwrap());
        }
        let batch = |x: &Tensor<B, 3>| x.clone().narrow(0, i, 1).flatten::<2>(0, 1);
        let loss = (batch(&x).matmul(w.val().transpose()).tanh() - batch(&target)).powi_scalar(2).mean();
        let grads = GradientsParams::from_grads(loss.backward(), &w);
        w = optimizer.step(0.03125, w, grads);
        losses.push(loss);
    }
    (Tensor::cat(losses, 0), w.val())
}

fn both<B: AutodiffBackend, O: Optimizer<Weight<B>, B>>(make: impl Fn() -> O, t: &Tensors, device: &B::Device) -> Tensors {
    let (losses, w) = train(&make, t, STEPS, device);
    let (resumed, resumed_w) = train(&make, t, AFTER, device);
    let loss_quotient = (resumed / losses.clone()).narrow(0, AFTER, STEPS - AFTER).into_data();
    let w_quotient = (resumed_w / w.clone()).into_data();
    let out = [("losses", losses.into_data()), ("w", w.into_data()), ("loss_quotient", loss_quotient), ("w_quotient", w_quotient)];
    out.map(|(name, data)| (name.to_string(), data)).into()
}

pub fn adamw<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    both(|| AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.0625).init::<B, Weight<B>>(), t, device)
}

pub fn momentum<B: AutodiffBackend>(t: &Tensors, device: &B::Device) -> Tensors {
    let momentum = MomentumConfig::new().with_momentum(0.9).with_dampening(0.0);
    both(|| SgdConfig::new().with_momentum(Some(momentum.clone())).init::<B, Weight<B>>(), t, device)
}
