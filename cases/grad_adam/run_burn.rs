use crate::glue::{Answer, Tensors};
use crate::swept::{numbers, Attributes};
use crate::{at_rank, each_rank};
use burn::module::Param;
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::decay::WeightDecayConfig;
use burn::optim::{AdamConfig, AdamWConfig, GradientsParams, Optimizer, SimpleOptimizer};
use burn::tensor::{backend::AutodiffBackend, Tensor};

pub fn adam<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = configured(a);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn adam_l2<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let decay = WeightDecayConfig::new(number(a, "decay"));
    let config = configured(a).with_weight_decay(Some(decay));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn adam_absent<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = configured(a);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn adamw<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = AdamWConfig::new()
        .with_beta_1(number(a, "beta1"))
        .with_beta_2(number(a, "beta2"))
        .with_epsilon(number(a, "eps"))
        .with_weight_decay(number(a, "decay"));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn amsgrad<B: AutodiffBackend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = configured(a).with_amsgrad(true);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

fn configured(a: &Attributes) -> AdamConfig {
    AdamConfig::new().with_beta_1(number(a, "beta1")).with_beta_2(number(a, "beta2")).with_epsilon(number(a, "eps"))
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

fn number(a: &Attributes, name: &str) -> f32 {
    a[name].as_f64().unwrap() as f32
}
