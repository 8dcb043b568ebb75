use crate::glue::Tensors;
use crate::swept::Attributes;
use burn::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
use burn::lr_scheduler::exponential::ExponentialLrSchedulerConfig;
use burn::lr_scheduler::linear::LinearLrSchedulerConfig;
use burn::lr_scheduler::step::StepLrSchedulerConfig;
use burn::lr_scheduler::LrScheduler;
use burn::tensor::{backend::Backend, Tensor};

pub fn step<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    let config = StepLrSchedulerConfig::new(number(a, "lr"), number(a, "size") as usize);
    rates(t, config.with_gamma(number(a, "gamma")).init().unwrap())
}

pub fn exponential<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    let config = ExponentialLrSchedulerConfig::new(number(a, "lr"), number(a, "gamma"));
    rates(t, config.init().unwrap())
}

pub fn linear<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    let (begin, end) = (
        number(a, "lr") * number(a, "begin"),
        number(a, "lr") * number(a, "end"),
    );
    let config = LinearLrSchedulerConfig::new(begin, end, number(a, "total") as usize);
    rates(t, config.init().unwrap())
}

pub fn cosine<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    rates(t, annealing(a).init().unwrap())
}

pub fn cosine_annealing<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    rates(t, annealing(a).init().unwrap())
}

fn annealing(a: &Attributes) -> CosineAnnealingLrSchedulerConfig {
    let config =
        CosineAnnealingLrSchedulerConfig::new(number(a, "lr"), number(a, "total") as usize);
    config.with_min_lr(number(a, "least"))
}

/// Of the asked steps, which follow each other.
fn rates<B: Backend>(t: &Tensors<B>, mut scheduler: impl LrScheduler) -> Tensor<B, 1> {
    let steps: Vec<i64> = t.int::<1>("steps").into_data().iter::<i64>().collect();
    let mut rates: Vec<f64> = (0..=steps[steps.len() - 1])
        .map(|_| scheduler.step())
        .collect();
    rates.drain(..steps[0] as usize);
    Tensor::from_floats(rates.as_slice(), &t.device)
}

fn number(a: &Attributes, name: &str) -> f64 {
    a[name].as_f64().unwrap()
}
