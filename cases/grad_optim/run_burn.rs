use crate::glue::{Answer, Tensors};
use crate::swept::{numbers, Attributes};
use crate::{at_rank, each_rank};
use burn::grad_clipping::{GradientClipping, GradientClippingConfig};
use burn::module::Param;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::decay::WeightDecayConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{AdaGradConfig, RmsPropConfig, SgdConfig};
use burn::optim::{GradientsParams, Optimizer, SimpleOptimizer};
use burn::tensor::{backend::AutodiffBackend, Tensor};

pub fn sgd<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = SgdConfig::new();
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn sgd_decay<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = SgdConfig::new().with_weight_decay(Some(WeightDecayConfig::new(number(a, "decay"))));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn momentum<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = SgdConfig::new().with_momentum(Some(heavy(a)));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn nesterov<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = SgdConfig::new().with_momentum(Some(heavy(a).with_nesterov(true)));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn momentum_absent<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = SgdConfig::new().with_momentum(Some(heavy(a)));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn adagrad<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    if number(a, "initial") != 0.0 {
        panic!("not offered: a sum that starts with another number than 0");
    }
    let config = AdaGradConfig::new().with_epsilon(number(a, "eps"));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn rmsprop<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = squares(a);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn rmsprop_centered<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = squares(a).with_centered(true);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn rmsprop_centered_steady<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = squares(a).with_centered(true);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn rmsprop_momentum<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = squares(a).with_momentum(number(a, "momentum"));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn clip_each_norm<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    clipped(t, GradientClippingConfig::Norm(number(a, "most")).init())
}

pub fn clip_value<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    clipped(t, GradientClippingConfig::Value(number(a, "most")).init())
}

fn heavy(a: &Attributes) -> MomentumConfig {
    let momentum = a["momentum"].as_f64().unwrap();
    MomentumConfig::new().with_momentum(momentum).with_dampening(0.0)
}

fn squares(a: &Attributes) -> RmsPropConfig {
    let config = RmsPropConfig::new().with_momentum(0.0);
    config.with_alpha(number(a, "rho")).with_epsilon(number(a, "eps"))
}

fn steps<B: AutodiffBackend, O: SimpleOptimizer<B::InnerBackend>, const D: usize>(
    t: &Tensors<B>,
    a: &Attributes,
    mut optimizer: OptimizerAdaptor<O, Param<Tensor<B, D>>, B>,
    p: Tensor<B, D>,
) -> Tensor<B, D> {
    let absent = a.get("absent").map_or(vec![], numbers);
    let count = t.dims("g")[0];
    let g: Tensor<B, 2> = each_rank!(t.any("g"), g => g.reshape([count as i32, -1])).into();
    let mut p = Param::from_tensor(p.detach());
    for n in 0..count {
        let mut grads = GradientsParams::new();
        if !absent.contains(&(n as i64)) {
            let row = g.clone().inner().narrow(0, n, 1).reshape(p.shape());
            grads.register::<B::InnerBackend, D>(p.id, row);
        }
        p = optimizer.step(a["lr"].as_f64().unwrap(), p, grads);
    }
    p.val()
}

fn clipped<B: AutodiffBackend>(t: &Tensors<B>, clipping: GradientClipping) -> Tensor<B, 1> {
    let part = |name: &str| -> Tensor<B, 1> { each_rank!(t.any(name), x => clipping.clip_gradient(x).reshape([-1])).into() };
    Tensor::cat(vec![part("a"), part("b")], 0)
}

fn number(a: &Attributes, name: &str) -> f32 {
    a[name].as_f64().unwrap() as f32
}
