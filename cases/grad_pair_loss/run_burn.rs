use crate::at_rank;
use crate::glue::{Answer, Tensors};
use crate::swept::Attributes;
use burn::nn::loss::{CosineEmbeddingLossConfig, HuberLossConfig, MseLoss};
use burn::nn::loss::{PoissonNllLossConfig, Reduction};
use burn::tensor::{backend::Backend, Tensor};

pub fn mse<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let loss = MseLoss::new();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn l1<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let loss = burn::nn::loss::LpLossConfig::l1();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn huber<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let loss = HuberLossConfig::new(number(a, "delta")).init();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn smooth_l1<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let config = burn::nn::loss::SmoothL1LossConfig::new().with_beta(number(a, "beta"));
    let loss = config.init();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward_with_reduction(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn kl_div<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let loss = burn::nn::loss::KLDivLossConfig::new().init();
    let by = if a["reduction"] == "sum" {
        Reduction::Sum
    } else {
        Reduction::BatchMean
    };
    at_rank!(t.rank(), D => loss.forward(t.float::<D>("x"), t.float("t"), by))
}

pub fn kl_div_elements<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let loss = burn::nn::loss::KLDivLossConfig::new().init();
    at_rank!(t.rank(), D => match reduction(a) {
        Some(by) => Answer::from(loss.forward(t.float::<D>("x"), t.float("t"), by)),
        None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), t.float("t"))),
    })
}

pub fn kl_div_log_target<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    let loss = burn::nn::loss::KLDivLossConfig::new()
        .with_log_target(true)
        .init();
    let by = if a["reduction"] == "sum" {
        Reduction::Sum
    } else {
        Reduction::BatchMean
    };
    at_rank!(t.rank(), D => loss.forward(t.float::<D>("x"), t.float("t"), by))
}

pub fn cosine_embedding<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Tensor<B, 1> {
    let config = CosineEmbeddingLossConfig::new().with_margin(number(a, "margin"));
    match reduction(a) {
        Some(by) => {
            let loss = config.with_reduction(by).init();
            loss.forward(t.float("a"), t.float("b"), t.int("target"))
        }
        None => {
            let loss = config.init();
            loss.forward_no_reduction(t.float("a"), t.float("b"), t.int("target"))
        }
    }
}

pub fn poisson_nll<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    counted(t, a, PoissonNllLossConfig::new().with_log_input(false))
}

pub fn poisson_nll_log<B: Backend>(t: &Tensors<B>, a: &Attributes) -> Answer<B> {
    counted(t, a, PoissonNllLossConfig::new())
}

fn counted<B: Backend>(t: &Tensors<B>, a: &Attributes, config: PoissonNllLossConfig) -> Answer<B> {
    let loss = config.with_full(a["full"] == true).init();
    at_rank!(t.rank(), D => {
        let target = t.int::<D>("target").float();
        match reduction(a) {
            Some(by) => Answer::from(loss.forward(t.float::<D>("x"), target, by)),
            None => Answer::from(loss.forward_no_reduction(t.float::<D>("x"), target)),
        }
    })
}

fn reduction(a: &Attributes) -> Option<Reduction> {
    match a["reduction"].as_str() {
        Some("mean") => Some(Reduction::Mean),
        Some("sum") => Some(Reduction::Sum),
        _ => None,
    }
}

fn number(a: &Attributes, name: &str) -> f32 {
    a[name].as_f64().unwrap() as f32
}
