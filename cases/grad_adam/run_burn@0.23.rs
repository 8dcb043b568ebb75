use crate::glue::{Answer, Tensors};
use crate::swept::{numbers, Attributes};
use crate::{at_rank, each_rank};
use burn::module::Param;
use burn::optim::decay::WeightDecayConfig;
use burn::optim::{AdamConfig, AdamWConfig, LambConfig};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::Tensor;

pub fn adam(t: &Tensors, a: &Attributes) -> Answer {
    let config = configured(a);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn adam_half(t: &Tensors, a: &Attributes) -> Answer {
    let config = configured(a);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn adam_l2(t: &Tensors, a: &Attributes) -> Answer {
    let decay = WeightDecayConfig::new(number(a, "decay"));
    let config = configured(a).with_weight_decay(Some(decay));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn adam_absent(t: &Tensors, a: &Attributes) -> Answer {
    let config = configured(a);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn adamw(t: &Tensors, a: &Attributes) -> Answer {
    let config = AdamWConfig::new()
        .with_beta_1(number(a, "beta1"))
        .with_beta_2(number(a, "beta2"))
        .with_epsilon(number(a, "eps"))
        .with_weight_decay(number(a, "decay"));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn amsgrad(t: &Tensors, a: &Attributes) -> Answer {
    let config = configured(a).with_amsgrad(true);
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

pub fn lamb(t: &Tensors, a: &Attributes) -> Answer {
    let config = LambConfig::new().with_beta_1(number(a, "beta1")).with_beta_2(number(a, "beta2")).with_epsilon(number(a, "eps"));
    at_rank!(t.dims("p").len(), D => steps(t, a, config.init(), t.float::<D>("p")))
}

fn configured(a: &Attributes) -> AdamConfig {
    AdamConfig::new().with_beta_1(number(a, "beta1")).with_beta_2(number(a, "beta2")).with_epsilon(number(a, "eps"))
}

fn steps<const D: usize>(t: &Tensors, a: &Attributes, mut optimizer: ModuleOptimizer, p: Tensor<D>) -> Tensor<D> {
    let absent = a.get("absent").map_or(vec![], numbers);
    let count = t.dims("g")[0];
    let g: Tensor<2> = each_rank!(t.any("g"), g => g.reshape([count as i32, -1])).into();
    let mut p = Param::from_tensor(p.detach());
    for n in 0..count {
        let mut grads = GradientsParams::new();
        if !absent.contains(&(n as i64)) {
            let row = g.clone().inner().narrow(0, n, 1).reshape(p.shape());
            grads.register::<D>(p.id, row);
        }
        p = optimizer.step(a["lr"].as_f64().unwrap(), p, grads);
    }
    p.val()
}

fn number(a: &Attributes, name: &str) -> f32 {
    a[name].as_f64().unwrap() as f32
}
