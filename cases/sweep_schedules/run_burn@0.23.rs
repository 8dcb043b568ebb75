use crate::glue::Tensors;
use crate::swept::Attributes;
use burn::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::lr_scheduler::exponential::ExponentialLrSchedulerConfig;
use burn::lr_scheduler::linear::LinearLrSchedulerConfig;
use burn::lr_scheduler::module_lr_scheduler::ModuleLrScheduler;
use burn::lr_scheduler::sequential::SequentialLrSchedulerConfig;
use burn::lr_scheduler::step::StepLrSchedulerConfig;
use burn::lr_scheduler::LrSchedulerConfig;
use burn::tensor::Tensor;

pub fn step(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let config = StepLrSchedulerConfig::new(number(a, "lr"), number(a, "size") as usize);
    rates(t, config.with_gamma(number(a, "gamma")).init().unwrap())
}

pub fn exponential(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let config = ExponentialLrSchedulerConfig::new(number(a, "lr"), number(a, "gamma"));
    rates(t, config.init().unwrap())
}

pub fn linear(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let (begin, end) = (number(a, "lr") * number(a, "begin"), number(a, "lr") * number(a, "end"));
    let config = LinearLrSchedulerConfig::new(begin, end, number(a, "total") as usize);
    rates(t, config.init().unwrap())
}

pub fn cosine_annealing(t: &Tensors, a: &Attributes) -> Tensor<1> {
    rates(t, annealing(a).init().unwrap())
}

pub fn joined(t: &Tensors, a: &Attributes) -> Tensor<1> {
    let (lr, warm) = (number(a, "lr"), number(a, "warm") as usize);
    let parts = vec![
        LrSchedulerConfig::Linear(LinearLrSchedulerConfig::new(lr / 2.0, lr, warm)),
        LrSchedulerConfig::Exponential(ExponentialLrSchedulerConfig::new(lr, number(a, "gamma"))),
    ];
    rates(t, SequentialLrSchedulerConfig::new(parts, vec![warm]).init().unwrap())
}

fn annealing(a: &Attributes) -> CosineAnnealingLrSchedulerConfig {
    let config = CosineAnnealingLrSchedulerConfig::new(number(a, "lr"), number(a, "total") as usize);
    config.with_min_lr(number(a, "least"))
}

/// Of the asked steps, which follow each other.
fn rates(t: &Tensors, mut scheduler: ModuleLrScheduler) -> Tensor<1> {
    let steps = t.int::<1>("steps").into_data().convert::<i64>();
    let steps: Vec<i64> = steps.iter::<i64>().collect();
    let last = steps[steps.len() - 1];
    let mut rates: Vec<f64> = (0..=last).map(|_| scheduler.step().base()).collect();
    rates.drain(..steps[0] as usize);
    Tensor::from_floats(rates.as_slice(), &t.device)
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().unwrap()
}
